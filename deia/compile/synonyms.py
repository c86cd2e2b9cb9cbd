"""Words that people who build software use for one another: a small thesaurus of acts and of things, one class a line.

Spelling does not tell that `nuke` is `delete`, and word vectors hardly know such slang. Refuses to be a dictionary: a
class holds what may stand in another's place in an order, and no word beside its opposite.
"""

from __future__ import annotations

from functools import cache

from deia.compile.forms import forms

ACTS = """
delete remove erase drop wipe purge destroy nuke trash zap scrap discard kill bin ditch toss eliminate obliterate rid
delete remove wipe erase destroy nuke trash blow tear throw
delete remove wipe clear clean purge axe rm prune expunge unlink shred annihilate
discard throw toss ditch abandon drop undo revert scrap
throw toss blow trash dump bin chuck
tear rip pull take bring knock
destroy tear dismantle demolish raze decommission teardown remove delete
empty clear flush truncate purge wipe drain
overwrite replace clobber override
restore recover revive reinstate
revert undo rollback roll back
stop kill terminate end halt quit abort
restart reboot bounce relaunch
reboot restart power shut
shut power turn switch
pause suspend freeze
deploy ship release publish push launch rollout
publish release ship upload push post
skip bypass omit circumvent sidestep dodge ignore evade
disable deactivate suppress mute silence
switch turn disable shut
move migrate transfer relocate switch shift
change alter modify edit adjust amend tweak
rotate roll regenerate renew replace swap exchange
revoke invalidate withdraw cancel
create make build generate recreate rebuild
set put
replace swap exchange substitute
print show display dump echo output reveal
send mail email notify post
expose open publish
grant give allow permit assign
accept trust allow
lift drop remove disable suspend
point direct aim
squash collapse flatten fold
strip scrub purge remove erase cut
mark flag label
resize shrink grow scale
lower reduce decrease cut
raise increase bump
copy clone duplicate
rename retitle
reset restore revert reinitialise reinitialize
merge land integrate
run execute launch start
start begin launch boot
write save store put
install add
upgrade update bump
downgrade rollback pin
refund repay reimburse
charge bill invoice
hire recruit
fire dismiss
cancel abort terminate
encrypt scramble
""".strip().splitlines()
THINGS = """
database databases db datastore schema
production prod live
site website page app project
app application service
repository repo codebase project
code codebase source sources
everything all whole entire complete every each
folder directory dir
file document
test spec testcase suite
failing broken flaky red
commit revision changeset
change modification edit work
uncommitted unstaged unsaved local
branch trunk
main master trunk
remote origin upstream
history log past
hook precommit
machine server host box computer instance node
process program job task
environment env stage
infrastructure infra stack resource
cluster kubernetes k8s
container pod
data content information
password secret credential token key passphrase
certificate cert tls ssl
verification validation check
bucket storage
object item blob
user people person everybody everyone anybody account
customer client buyer
package library module dependency
registry npm pypi
github gitlab bitbucket
version release
domain dns zone hostname
record entry row line
table relation collection
nameserver dns
scratch fresh new clean anew zero
again anew afresh scratch
last previous latest
old former legacy stale obsolete unused
review approval signoff
required mandatory necessary
image picture photo
volume disk drive
backup snapshot dump
customer user subscriber
mail email message
invoice bill
payment charge transaction
configuration config setting
permission right access privilege
writable write
setting option preference
address ip
""".strip().splitlines()


@cache
def _classes() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    return _by_member(ACTS), _by_member(THINGS)


def _by_member(lines: list[str]) -> dict[str, frozenset[str]]:
    """Give, for every form of every word, the words of all its classes in their base forms."""
    found: dict[str, frozenset[str]] = {}
    for line in lines:
        members = frozenset(line.split())
        for form in {form for member in members for form in forms(member)}:
            found[form] = found.get(form, frozenset()) | members
    return found


def alike(word: str, *, act: bool) -> frozenset[str]:
    """Give every form of the words that may stand in place of one, as an act or as a thing; empty where none is known.

    The word may be inflected; a word of a class of acts that is asked for as a thing has no others there.
    """
    members = _classes()[0 if act else 1].get(word, frozenset())
    return frozenset(form for member in members for form in forms(member))
