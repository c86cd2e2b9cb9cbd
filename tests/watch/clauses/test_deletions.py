"""What deletes something remote is known by its verb, whatever the client; what stays on this machine is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.watch.clauses.deletions import deletion, is_wide
from deia.watch.shell.parse import parse_commands


def found(line: str, shell: str = "bash") -> list[str]:
    """Return what the commands of a line delete, and a star for what reaches far."""
    commands = parse_commands(line, shell=shell)
    return [deletion(command) + "*" * is_wide(command) for command in commands if deletion(command)]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("widgetctl projects delete 7", "delete"),
        ("widgetctl -h cache.acme.io del 7 9", "del"),
        ("widgetctl query 'User.byId(7)!.delete()' -d shop", "delete"),
        ("widgetctl --javascript.execute-string 'db._dropDatabase(\"a\")'", "_dropDatabase"),
        ("widgetdelete -D cn=admin,dc=acme ou=people,dc=acme", "widgetdelete"),
        ("curl https://x.example/bot7/deleteWebhook?drop=true", "deleteWebhook"),
        ("curl -d '{\"ids\":[1]}' https://x.example/app/data-deletions/v3/", "data-deletions"),
        ("ruby -e 'Acme::Client.new(ENV[\"TOKEN\"]).things.each(&:delete)'", "(&:delete)*"),
        ("widgetctl ids | xargs widgetctl -h cache.acme.io del", "del*"),
        ("widgetctl rm --recursive acme-media", "rm*"),
        ("widgetctl subscriptions cancel sub_7", "cancel"),
        ("widgetctl app sync shop --prune --force", "--prune*"),
        ("for f in $(widgetctl flags list); do widgetctl flags delete $f; done", "delete*"),
        ("widgetctl flags list | while read f; do widgetctl flags delete $f; done", "delete*"),
        ("widgetctl items delete $(cat id.txt)", "delete"),
        ("widgetctl repo-delete docker-old --quiet", "repo-delete"),
        ("widgetctl deleteByNameType acme MX", "deleteByNameType"),
        ("widgetctl bundle destroy", "destroy"),
        ("widgetctl domain record remove acme.dev 6f9b", "remove"),
        ("widgetctl rm -r w3://bucket/2021", "rm*"),
        ("widgetctl sync --delete ./out w3://exports", "--delete"),
        ("yes | widgetctl --nuke", "--nuke"),
        ("widgetctl ls -q | xargs -n1 widgetctl volume delete", "delete*"),
        ("widgetctl topics delete 'legacy.*'", "delete*"),
        ("ssh ops 'widgetctl secret delete TOKEN'", "delete"),
        ("curl -fsSX DELETE $URL/users/7", "DELETE"),
        ("curl --request=DELETE --url https://x.example/users/7", "DELETE"),
        ("xh delete https://x.example/users/7", "DELETE"),
        ("az rest -m delete --url https://x.example/users/7", "DELETE"),
        ("gh api -X DELETE /orgs/acme/packages/npm/left", "DELETE"),
        ("curl -d '{}' https://x.example/logs/_delete_by_query", "_delete_by_query"),
        ("http POST x.example/zones/7/purge", "purge"),
        ("curl -d _method=DELETE https://x.example/items/7", "DELETE"),
        ('curl -X PATCH https://x.example/items/7 -d \'{"status": "archived"}\'', "status=archived"),
        ("gh api -X PATCH repos/a/b -F archived=true", "archived=true"),
        ('node -e \'axios({method: "delete", url: "https://x.example/7"})\'', "DELETE"),
        ("wget --post-data x https://x.example/job/a/doDelete", "doDelete"),
        ('curl https://x.example/graphql --json \'{"query": "mutation D { removeUser }"}\'', ""),
        ('curl https://x.example/graphql --json \'{"query": "mutation D { deleteUser(id: 7) }"}\'', "mutation"),
        ('python3 -c \'import boto3; boto3.client("s3").delete_bucket(Bucket="a")\'', "delete_bucket"),
        ("node -e 'new Client().send(new DeleteObjectCommand({}))'", "DeleteObjectCommand"),
        ("ruby -e 'Net::HTTP::Delete.new(\"https://x.example\")'", "HTTP::Delete"),
        ("php -r '$client->paymentMethod()->delete(7);'", "delete"),
        ("printf 'update delete vpn.example. A\\nsend\\n' | nsupdate", "update delete"),
        ("widgetctl status delete 7", "delete"),
        ("widgetctl remove project p1", "remove"),
        ("widgetctl secrets unset TOKEN --env prod", "unset*"),
        ("widgetctl api --method DELETE /pipelines/web", "DELETE"),
        ("widgetctl rm users/alice", "rm"),
        ("scp app.js root@prod-web1:/srv/app/app.js", "/srv/app/app.js*"),
        ("widgetctl rm --versions w3://bucket/2021", "rm"),
        ("curl -d '{}' https://x.example/items/bulk-delete", "bulk-delete"),
        ("curl -d ts=1 https://x.example/api/chat.delete", "chat.delete"),
        ("curl -X POST -H 'X-HTTP-Method-Override: DELETE' https://x.example/items/7", "DELETE"),
        ("python3 -c 'from slack import W; W(token=T).conversations_archive(channel=1)'", "conversations_archive"),
        ("ruby -rnet/http -e 'Net::HTTP.start(h) { |api| api.delete(\"/users/7\") }'", "delete"),
        ("python3 -c 'import acme; acme.login().delete_project(7)'", "delete_project"),
        ("python3 -c 'import acme\ndef go():\n    acme.api().delete_project(7)\ngo()'", "delete_project"),
        ("widgetctl images prune --all", "prune*"),
        ("perl -e 'unlink glob \"/mnt/shared/plates/*.exr\"'", "unlink*"),
        ("scp ./sudoers root@bastion:/etc/sudoers", "/etc/sudoers*"),
        ("curl -X POST https://x.example/buckets/a/doFlush", "doFlush"),
        ("curl -X POST https://x.example/channels.archive -d id=7", "channels.archive"),
        ('curl -d \'{"file": "a/b.gz"}\' $U/v3/x2_delete_file', "x2_delete_file"),
        ("curl -d '{\"ids\": [7]}' https://x.example/deletions/users", "deletions"),
        ("curl 'https://x.example/admin?action=DELETE&name=a'", "DELETE"),
        ("curl 'https://x.example/?method=Sites.removeSite&idSite=4'", "removeSite"),
        ("curl --data-binary '<delete><query>*:*</query></delete>' https://x.example/update", "<delete>*"),
        ('curl -d \'{"method": "host.delete", "id": 1}\' https://x.example/rpc', "method=host.delete"),
        ('curl -d \'{"args": {"sql": "DROP TABLE a"}}\' https://x.example/v1/query', "drop"),
        ("curl -X PUT https://x.example/entries/7/archived", "archived"),
        ("echo 'delete volume=F-12 yes' | adminctl", "delete"),
        ("adminctl -C \"remove_host 'web-01'\"", "remove_host"),
        ("widgetdb -database a -execute 'DROP MEASUREMENT raw'", "drop"),
        ("widgetctl graph query 'mutation { boardDelete(id: 7) { ok } }'", "mutation"),
        ("widgetctl run delete 8f3a2b", "delete"),
        ("widgetctl group-remove-member ops --users=erika", "group-remove-member"),
        ("widgetctl deleteusers gone.csv", "deleteusers"),
        ("widgetctl delete-components --space 7 a.json", "delete-components"),
        ("widgetdelete -H ldaps://x.example uid=7", "widgetdelete"),
        ("widgetmodify -W <<< $'dn: uid=7\\nchangetype: delete\\n'", "changetype: delete"),
        ("widgetdb sql --db b <<< 'REMOVE TABLE person;'", "remove"),
        ("widget-shell -a x.example 'MATCH (n) DETACH DELETE n'", "delete"),
        ("curl -d '{\"drop_all\": true}' https://x.example/alter", "drop_all=true"),
        ("curl -d 'mode=raw&query=DROP TABLE a' https://x.example/sql", "drop"),
        ("curl -X POST 'https://x.example/invoice?operation=delete' -d '{\"Id\": 7}'", "delete"),
        ('curl -X POST https://x.example/bills/7 -d \'{"Status": "VOIDED"}\'', "status=voided"),
        ("sudo -u www-data php bin/shop user:delete erika", "user:delete"),
        ("python3 -c 'import acme; acme.models.delete(7)'", "delete"),
        ("python3 -c 'import acme; acme.Client(K).get_dataset(7).delete()'", "delete"),
        ('curl -d \'{"query": "mutation { delete_board (id: 7) { id } }"}\' https://x.example/v2', "mutation"),
        ("widgetctl numbers cancel DE 49 --force", "cancel*"),
        ("widgetctl repos update web --allow-data-deletion", "--allow-data-deletion"),
        ("WIDGET_ALLOW_DELETE=true widgetctl import --input_file=a", "WIDGET_ALLOW_DELETE=true"),
        ("java -jar widget-cli.jar -s https://x.example/ delete-job web", "delete-job"),
        ("npm run --silent widget -- documents delete web --dataset main", "delete"),
        ("widgetctl rm --parallel 8 w3://bucket/2021", "rm"),
        ("widgetctl extension delete --id a --space-id 7", "delete"),
        ("widgetctl configs tokens revoke --slug 7", "revoke"),
        ("widgetctl access accessDeleteKeys --keys 7", "accessDeleteKeys"),
        ("node -e 'const c = widget(process.env.KEY); c.clearObjects({name: 1})'", "clearObjects"),
        ("node -e 'const c = createClient({token: process.env.T}); await c.delete({id: 7})'", "delete"),
        ("php -r 'Acme\\Models\\Invoice::delete(getenv(\"ID\"));'", "delete"),
        ('php -r \'array_map("unlink", glob("/mnt/a/*.gz"));\'', "rm*"),
        ("python3 -c 'import requests; requests.patch(U, headers=H, json={\"deleted\": True})'", "deleted=true"),
        ("python3 -c 'import requests; requests.post(\"https://x.example/a/delete\", json={})'", "delete"),
    ],
)
def test_a_deletion_is_known_by_its_verb(line: str, wanted: str) -> None:
    assert found(line) == ([wanted] if wanted else [])


def test_a_pipeline_of_powershell_deletes_nothing_by_what_it_looks_for() -> None:
    assert found("Get-AzResource | Where-Object { $_.Tags.state -eq 'delete' }", "powershell") == []


def test_powershells_requests_count() -> None:
    assert found("Invoke-RestMethod -Uri $u/users/7 -Method 'DELETE'", "powershell") == ["DELETE"]
    assert found("irm -Method Delete -Uri https://x.example/users/7", "powershell") == ["DELETE"]


@pytest.mark.parametrize(
    "line",
    [
        "Append soft-delete tests", "Remove deleted users from the list", "Purge user deletion fixtures",
        "widgetctl exec spec spec/delete_customer_spec.rb", "grpcurl a.example:443 acme.v1.Deletions/GetDeletion",
        "widgetctl eval -d policy.rego data.deny_delete", "widgetctl find --query 'x.delete(1)'",
        "curl https://x.example/app/data-deletions/7", "widgetctl query 'User.where(.deleted).first(3)'",
        "widgetctl search products --query 'delete key'", "widgetctl functions serve delete-user --no-verify",
        "widgetctl build cancel 7", "widgetctl app diff shop --prune",
        "widgetctl projects list", "widgetctl show delete", "widgetctl delete -h", "widgetctl config delete-context a",
        "widgetctl plugin remove colours", "widgetctl delete-cache", "widgetctl local topic delete a",
        "widgetctl deploy validate --post-destructive-changes x.xml", "widgetctl archive", "widgetctl rm notes.txt",
        "curl -X PATCH https://x.example/items/7 -d '{\"archived\": false}'",
        "widgetctl rm docs/notes.txt", "widgetctl rm ./docs/notes", "scp a root@prod1:/tmp/a",
        "scp a products.example:/srv/a",
        "widgetctl --host 127.0.0.1 users delete 7", "API=http://localhost:1 widgetctl users delete 7",
        "./delete-all.sh now", "use delete to discard the changes", "curl -X DELETE localhost:9200/a",
        "curl -X DELETE 'https://x.example/a?dryRun=true'", "curl https://x.example/delete/7",
        "curl -G -d q=delete https://x.example/delete", "wget https://x.example/purge", "http x.example/delete",
        "python3 -c 'd = {}; d.pop(1); names.remove(\"a\")'", "node -e 'new Map().delete(1)'", "python3 delete.py",
        "python3 -c 'import weaviate; weaviate.connect_to_local().collections.delete(\"T\")'",
        "widgetctl app:info -a delete-me", "widgetctl list-runs -d delete_old", "widgetctl snapshots --tag delete",
        "widgetctl ping delete-me", "widgetctl users delete 7 --preview", "widgetctl users delete 7 -n",
        "widgetctl --profile sandbox users delete 7", "DRY_RUN=1 widgetctl users delete 7",
        "widgetctl delete-requests list",
        "widgetctl auth remove --context old", "widgetctl rule add --action drop", "widgetctl synth DeleteStack",
        "minikube delete", "parallel --dry-run widgetctl users delete ::: 1 2",
        "curl -X DELETE http://api.test:3000/users/7",
        "curl -X DELETE https://x.example/a -d '{\"dry_run\": true}'", "http --offline DELETE https://x.example/a/7",
        "curl -d '{}' https://x.example/trash/7/restore", "curl -d '{}' https://x.example/users/7/cancel-deletion",
        "curl -d '{}' https://x.example/auth/reset-password", "curl -d '{}' https://x.example/archive/search",
        "curl -X PUT https://x.example/p -d '{\"phases\":{\"delete\":{\"min_age\":\"30d\"}}}'",
        "curl -d '{\"action\":\"delete\"}' https://x.example/authorize",
        "python3 -c 'import acme\ndef go():\n    acme.api().delete_project(7)\nprint(1)'",
        "python3 -c 'import client\nd = {}\nd.tags.remove(1)'", "widgetctl things undo-delete 7",
        "node -e 'const q = {client: 1}; q.parts.del(7)'", "widgetctl simulator erase all",
        "curl -d '{\"filter\":{\"status\":\"deleted\"}}' https://x.example/reports",
        "python3 -c 'import x; print(\"client.delete_user(1)\")'",
        "python3 -c 'from app.testclient import TestClient; TestClient(app).delete(\"/a\")'",
        "python3 -c 'import requests; requests.post(\"https://x.example/search\", json={\"q\": \"DELETE\"})'",
        "node -e 'app.delete(\"/users/:id\", (req, res) => res.end(process.env.X))'",
        "scp root@host:/etc/hosts .", "scp app.tar host:/srv/app/", "kubectl get --raw /apis/delete",
        "curl -X DELETE https://x.example/entries/7/archived", "curl -X POST https://x.example/deletions/7/cancel",
        "curl 'https://x.example/audit?action=delete&user_id=7'", "curl 'https://x.example/items?action=delete&limit=7'",
        "curl -X POST https://x.example/channels.list -d id=7", "curl -X POST https://x.example/auto_delete_rules",
        "widgetctl run delete-worker", "php artisan cache:clear", "widgetctl channels history delete-events",
        "php vendor/bin/phpunit --filter delete",
        "widgetctl subscribe purge-events mine", "widgetctl access remove laptop",
        "widgetctl repos update a --no-allow-deletion=false", "widgetctl note create --body 'delete x'",
        "echo 'delete the old file in the app' | widgetctl", "echo 'select 1; show x' | widgetctl",
        "widgetctl numbers cancel DE 49", "WIDGET_ALLOW_DELETE=false widgetctl import a",
        "URI=sqlite:////tmp/a.db widgetctl experiments delete --id 1", "widgetctl --key sk_test_7 users delete 7",
        "nsupdate <<< $'server 127.0.0.1 5353\nupdate delete a. A\nsend'",
        "node -e 'client.estimate.cancel_subscription(1)'",
        "node -e 'const u = await client.users.createUser({}); await client.users.deleteUser(u.id)'",
        "node -e 'const h = new Headers({a: process.env.K}); h.delete(\"a\")'",
    ],
)  # fmt: skip
def test_what_stays_here_or_only_looks_is_left_alone(line: str) -> None:
    assert found(line) == []


def test_code_that_goes_through_a_list_or_names_production_reaches_far() -> None:
    assert found("python3 - <<'E'\nfor u in users:\n    requests.delete(f'https://x.example/{u}')\nE") == ["delete*"]
    users = "node - <<'E'\nconst api = connect(token)\nawait api.users().deleteUsers(all.map(u => u.id))\nE"
    assert found(users) == ["deleteUsers*"]
    assert found("python3 - <<'E'\nimport acme\nc = acme.Client()\n[c.delete_user(u) for u in us]\nE") == [
        "delete_user*"
    ]
    assert found("ruby - <<'E'\nAcme.bucket('acme-prod-a').delete\napi = 1\nE") == ["delete*"]


WORDS = st.sampled_from(
    "curl gh api -X -XDELETE DELETE -d -sX delete rm remove --delete xargs widgetctl https://x $U / // :// = "
    "python3 -c client.delete( mutation{deleteX( nsupdate scp a:/etc/x az rest http php -r '' {}".split(" ")
)


@given(st.lists(WORDS, max_size=12))
def test_no_command_raises(pieces: list[str]) -> None:
    found(" ".join(pieces))
