"""Words that people who build software use for one another: a small thesaurus of acts and of things, one class a line.

Spelling does not tell that `nuke` is `delete`, and word vectors hardly know such slang. An act may be a verb with its
particle (`blow_away`), which stand together or a little apart. Refuses to be a dictionary: a class holds what may \
stand
in another's place in an order, and no word beside its opposite.
"""

from __future__ import annotations

from functools import cache, lru_cache

from deia.compile.triggers.word_forms import forms

ACTS = """
delete remove erase drop wipe purge destroy nuke trash zap scrap discard kill bin ditch toss chuck junk eliminate \
obliterate get_rid do_away throw_away throw_out chuck_out toss_out blow_away wipe_out clear_out clean_out clear \
clear_away tear_down take_down take_out take_away rip_out pull_down kill_off burn_down
delete remove wipe erase destroy nuke trash empty truncate flush clear purge drain wipe_clean wipe_out clear_out \
clean_out empty_out blow_away
delete remove rm del axe prune expunge unlink shred annihilate cull sweep_out rid strip torch vaporize vaporise \
raze remove_entirely
delete destroy remove tear_down terminate decommission dismantle demolish raze teardown retire bring_down take_down \
take_apart pull_down knock_down shut_down nuke
discard throw_away throw_out toss ditch abandon drop undo revert scrap lose forget wipe nuke get_rid blow_away \
clear reset
undo revert rollback roll_back back_out go_back put_back set_back move_back get_back bring_back wind_back rewind \
reset restore return jump_back discard
reset revert rewind restore reinitialise reinitialize
reset move_back set_back roll_back wind_back rewind put_back go_back force_back
put_back bring_back take_back move_back set_back go_back get_back return revert restore reset
go_back put_back return revert reset restore get_back
throw_away throw_out toss trash dump bin chuck discard ditch delete lose scrap get_rid
empty clear flush truncate purge wipe drain erase nuke empty_out clear_out clean_out wipe_out wipe_clean blow_away \
zero_out blank
flush empty clear purge wipe drain nuke reset clear_out wipe_out blow_away
overwrite replace clobber override stomp steamroll trample write_over push_over
replace overwrite swap exchange substitute
restore recover revive reinstate
restore reload import load bring_back put_back
revert undo rollback
stop kill terminate end halt quit abort shoot shoot_down kill_off bring_down shut_down slay murder nuke smash zap
kill stop terminate end halt quit shoot shoot_down kill_off bring_down take_down shut_down slay pkill killall \
sigkill smash nuke zap
restart reboot bounce relaunch cycle power_cycle recycle
reboot restart cycle bounce power_cycle
shut_down shutdown power_off power_down poweroff turn_off switch_off halt bring_down take_down
turn_off switch_off shut_off disable deactivate kill take_out knock_out comment_out switch_out toggle_off
disable deactivate suppress mute silence turn_off switch_off shut_off knock_out comment_out uncheck untick unset \
suspend lift skip bypass ignore pause neuter gag cripple
skip bypass omit circumvent sidestep dodge ignore evade get_around go_around work_around get_past leave_out jump \
disregard override suppress disable turn_off switch_off step_around hop_over waive forgo sneak_past slip_past
bypass skip circumvent sidestep dodge evade override overrule get_around go_around work_around get_past ignore \
disable disregard defeat turn_off switch_off sneak_past slip_past
ignore disregard skip bypass suppress disable accept turn_off switch_off
comment_out take_out leave_out disable skip xfail knock_out turn_off switch_off silence mute quarantine
mark flag label tag decorate annotate
pause suspend freeze
deploy ship release publish push launch rollout roll_out go_live put_live push_out put_out send_out promote
release publish ship deploy push upload launch roll_out
move migrate transfer relocate shift hand_over hand_off sign_over switch switch_over cut_over change_over
change alter modify edit adjust amend tweak update switch swap adapt
change switch swap replace set update alter move
point repoint direct aim switch connect hook_up set wire hand_over delegate
rotate roll regenerate renew replace swap exchange cycle reissue change reset refresh recreate roll_over
revoke invalidate withdraw cancel kill expire rescind deactivate nuke
create make build generate recreate rebuild remake issue mint cut provision spin_up stand_up
recreate rebuild remake regenerate reimport reprovision redo create_again make_again set_again build_again start_over
rewrite alter edit change purge scrub filter rebase
squash collapse flatten fold condense combine
scrub purge remove erase cut strip excise filter delete rewrite expunge wipe
set put pass
use source load export put set pull_in inject
load export set source put import use inject pull_in
run execute launch fire kick_off trigger
mirror sync synchronise synchronize rsync replicate
format reformat repartition wipe erase
flash burn write
loosen weaken relax soften water_down lower
mount attach bind
show print display dump echo output reveal cat list read view paste open spit_out look_at
send mail email notify post blast blast_out send_out mail_out fire_off message text
share send post forward email mail upload
expose open publish
grant give allow permit assign open open_up hand
make set chmod turn
open_up open loosen relax unlock
accept trust allow tolerate permit take swallow
approve accept confirm rubber_stamp wave_through
allow whitelist allowlist permit grant approve
lift drop remove disable suspend turn_off switch_off uncheck untick take_off relax loosen
merge land integrate push_through force_through get_in squash_in
commit check_in checkin track
put stick paste place hardcode bake embed commit
force shove ram
push shove upload ship
unpublish yank withdraw retract recall unrelease unship
take_back take_down take_off pull withdraw retract recall yank remove delete pull_down
take_down pull_down bring_down tear_down delete remove kill destroy shut_down
resize shrink grow scale
lower reduce decrease cut shorten trim
shorten reduce lower cut trim
raise increase bump
promote elevate fail_over switch_over
fail_over switch_over promote
drain evacuate cordon
evict kick_off kick_out drain
copy clone duplicate
rename retitle
start begin launch boot
turn_on switch_on enable activate
install add
uninstall remove delete rip_out
redeploy deploy reship
flip switch turn change set
close shut resolve
upgrade bump
downgrade pin
refund repay reimburse
charge bill invoice
hire recruit
fire dismiss
cancel abort terminate
encrypt scramble
""".strip().splitlines()
THINGS = """
database databases db dbs datastore schema
production prod prd live
site website page app project webpage homepage
app application service api
hosted hosting
repository repo repos
codebase checkout worktree
code codebase source sources src
source src code
folder directory dir folders subfolder subdirectory
file files document stuff
home homedir
test spec testcase suite tests specs unittest e2e testsuite
failing broken flaky red fail
assertion assert expectation expect
expected expectation expectations snapshot
skipped skip xfail xit ignored disabled todo
commit revision changeset
change modification edit work edits changes
uncommitted unstaged unsaved local
untracked unversioned unknown
tracked versioned added
branch branches
main master trunk develop
origin upstream remote github gitlab
history log past
hook precommit husky hooks lefthook githook prepush
check checks ci pipeline gate
machine host box computer vm laptop vps droplet workstation
server host box
process program job task processes
environment env
infrastructure infra stack resource resources environment
stack infrastructure infra environment
terraform tofu opentofu terragrunt
cluster kubernetes k8s
namespace ns
claim pvc pv pvcs
container pod containers compose
data content information rows records
secret credential token passphrase password secrets credentials apikey
key token apikey keypair
env dotenv environment
certificate cert tls ssl certs https
verification validation check checking verify
verify verification sslverify strictssl
bucket buckets s3 gcs
storage container
object item blob
everybody everyone anyone anybody world users
write writable
permission permissions right access privilege chmod
package library module dependency crate gem
registry npm pypi npmjs rubygems nuget crates
github gitlab bitbucket codeberg gitea
version release tarball
domain hostname apex
dns nameserver nameservers
zone dns
nameserver nameservers ns
record entry row line records entries
rows records entries
table relation collection tables
scratch fresh new clean anew zero afresh
again anew afresh scratch
last previous latest
old former legacy stale obsolete unused
review approval signoff reviewer approver reviews approvals
required mandatory necessary
protection protections rule rules ruleset safeguard
image picture photo
volume disk drive volumes
backup snapshot dump archive
customer user subscriber client buyer
mail email message
invoice bill
payment charge transaction
configuration config setting
setting option preference
address ip
git scm
redis valkey keydb
vercel netlify heroku railway render fly flyio firebase cloudflare digitalocean amplify azure supabase dokku coolify
rds aurora atlas neon planetscale cloudsql dynamodb documentdb elasticache cosmosdb supabase aws redshift
frontend backend client ui lib src
false off 0
abandoned experiment spike prototype throwaway dead forgotten attempt stale
node python java ruby php chrome firefox electron gradle python3 webpack vite
working worktree tree checkout
tree checkout worktree copy
cache caches keys
cron crontab cronjob cronjobs crontabs
queue topic stream
replica standby secondary follower
primary leader master
firewall ufw iptables
inbound ingress
instance vm server ec2
linter lint eslint ruff pylint flake8 rubocop
newsletter campaign mailing
flag toggle
aws gcp azure cloud
deployment workload statefulset daemonset
uploads media attachments
pull pr mr
deletion termination delete
""".strip().splitlines()


@cache
def _classes() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    return _by_member(ACTS), _by_member(THINGS)


def _by_member(lines: list[str]) -> dict[str, frozenset[str]]:
    """Give, for every form of every member, the members of all its classes in their base forms."""
    found: dict[str, frozenset[str]] = {}
    for line in lines:
        members = frozenset(line.split())
        for form in {form for member in members for form in _forms_of(member)}:
            found[form] = found.get(form, frozenset()) | members
    return found


@lru_cache(maxsize=5000)
def _forms_of(member: str) -> frozenset[str]:
    """Give the forms of a word, or of the verb of `blow_away` with its particle as it is."""
    verb, mark, particle = member.partition("_")
    return frozenset(f"{form}{mark}{particle}" for form in forms(verb))


@lru_cache(maxsize=5000)
def alike(word: str, *, act: bool) -> frozenset[str]:
    """Give every form of the words that may stand in place of one, as an act or as a thing; empty where none is known.

    The word may be inflected; a word of a class of acts that is asked for as a thing has no others there.
    """
    members = _classes()[0 if act else 1].get(word, frozenset())
    return frozenset(form for member in members if "_" not in member for form in forms(member))


@lru_cache(maxsize=5000)
def phrasal(word: str) -> dict[str, frozenset[str]]:
    """Give the verbs that say an act together with a particle, in every form, with these: `blew` with `away` and so on.

    `word` may be such a pair itself, as `blow_away`.
    """
    found: dict[str, frozenset[str]] = {}
    for member in _classes()[0].get(word, frozenset()):
        for pair in _forms_of(member) if "_" in member else ():
            verb, _, particle = pair.partition("_")
            found[verb] = found.get(verb, frozenset()) | {particle}
    return found


def is_act(word: str) -> bool:
    """Say whether the thesaurus has a class of acts for a word, or for a pair as `blow_away`."""
    return word in _classes()[0]


@cache
def head_of(pair: str) -> str:
    """Give the single word of its class that says what a pair as `blow_away` says."""
    lines = [line.split() for line in ACTS if pair in {form for member in line.split() for form in _forms_of(member)}]
    first = next((line for line in lines if pair in _forms_of(line[0])), lines[0])
    return next((member for member in first if "_" not in member), pair.partition("_")[0])
