"""Commands compared with templates: options anywhere and in any spelling, words in order, data never."""

from __future__ import annotations

import pytest

from deia.commons.triggers.clause_language import parse_command
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.templates import has_option, is_dry, matches_command


def fits(template: str, line: str, shell: str = "bash") -> bool:
    wanted = parse_command(template)
    return any(matches_command(one, command) for one in wanted for command in parse_commands(line, shell=shell))


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("kubectl delete {deploy|sts}", "kubectl -n shop delete svc,deploy -l app=web"),
        ("git push --force", "git push --force"),
        ("git push --force", "git -C /repo push origin main --force"),
        ("git push --force", "git -c push.default=current push --force"),
        ("git push {--force|-f}", "git push -f origin"),
        ("git push {--force|-f}", "git push -uf origin main"),
        ("git push --force", "git push --force=yes"),
        ("rm -rf", "rm -rf build"),
        ("rm -rf", "rm -fr build"),
        ("rm -rf", "rm -r -f build"),
        ("rm -rf", "rm build -Rrf"),
        ("rm -rf /", "rm -rf /"),
        ("rm -rf", "rm -Rf build"),
        ("rm -rf", "rm --recursive --force build"),
        ("rm -rf", "rm --rec -f build"),
        ("rm --recursive", "rm -vR build"),
        ("git clean --force", "git clean -xdf"),
        ("git reset --hard", "git reset --ha HEAD~1"),
        ("git reset --hard", "git -- reset --hard"),
        ("git reset --hard", "GIT RESET --HARD"),
        ("git restore --patch", "git restore --no-patch -p"),
        ("rm -r <root>", "cd / && rm -r *"),
        ("rm -r <scratch>", "cd /tmp/x && rm -r *"),
        ("rm -r <whole>", "cd /home/sam/project && rm -r *"),
        ("rm -r <outside>", "cd .. && rm -r other"),
        ("xargs $?", "cat x | xargs sudo"),
        ("curl -X=DELETE", "curl -XDELETE h"),
        ("kubectl delete {ns|namespace}", "kubectl --context=prod -n shop delete namespace shop"),
        ("terraform destroy", "terraform -chdir=infra destroy -auto-approve"),
        ("terraform -destroy", "terraform apply --destroy"),
        ("docker … prune", "docker system prune -a"),
        ("docker … prune", "docker --context prod volume prune"),
        ("chmod 777", "chmod -R 777 ."),
        ("npm publish", "sudo -u deploy npm publish --tag next"),
        ("git checkout -- *", "git checkout -- src/app.py"),
        ("git checkout .", "git checkout ."),
        ("dropdb … *prod*", "dropdb -h db1 shop_production"),
        ("curl -X=DELETE", "curl -X DELETE https://a/b"),
        ("curl --request=DELETE", "curl --request=DELETE https://a/b"),
        ("curl --request=DEL*", "curl --request DELETE https://a/b"),
        ("manage.py flush", "./manage.py flush"),
        ("cat build", "cat ./build/"),
        ("{tofu|terraform} destroy", "tofu destroy"),
        ("aws s3 rb", "aws --profile prod s3 rb s3://b --force"),
        ("Remove-Item -Recurse", "Remove-Item -recurse C:/x"),
        ("remove-item", "REMOVE-ITEM x"),
        ("rd /s", "rd /S /q build"),
        ("python* -m http.server", "python3.11 -m http.server"),
    ],
)
def test_a_command_is_known_however_it_is_spelt(template: str, line: str) -> None:
    assert fits(template, line)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("git push --force", "git push --force-with-lease"),
        ("git push --force", "git push -f --no-force"),
        ("git restore --patch", "git restore -p --no-patch"),
        ("find -delete -empty", "find . -type f -iname x -delete"),
        ("rm -r <root>", "(cd / && ls); rm -r *"),
        ("Remove-Item -WhatIf", "Remove-Item -w x"),
        ("git push --force-with-lease", "git push origin main --force"),
        ("git push --force", "git push origin force"),
        ("git push --force", "git log --grep='git push --force'"),
        ("git push --force", "git commit -m 'git push --force'"),
        ("git push --force", "echo git push --force"),
        ("git push --force", "git-push --force"),
        ("git push --force", "git stash push --force"),
        ("rm -rf", "rm -r build"),
        ("rm -rf", "rm --recursive-force build"),
        ("terraform destroy", "terraform plan -destroy"),
        ("terraform destroy", "terraform state list destroy"),
        ("terraform destroy", "terraform destroyer"),
        ("terraform destroy", "grep -r 'terraform destroy' ."),
        ("terraform destroy", "cat <<'E'\nterraform destroy\nE"),
        ("terraform destroy", "printf '%s' terraform destroy"),
        ("docker … prune", "docker ps"),
        ("git checkout -- *", "git checkout -- "),
        ("git checkout *", "git checkout -b"),
        ("npm publish", "npm run publish"),
        ("curl -X=DELETE", "curl -X GET https://a/DELETE"),
        ("dropdb *prod*", "dropdb shop_test"),
        ("rd /s", "ls /s"),
    ],
)
def test_a_command_is_not_taken_for_another(template: str, line: str) -> None:
    assert not fits(template, line)


@pytest.mark.parametrize(
    ("wanted", "arguments", "given"),
    [
        ("--force", ["--force"], True),
        ("--force", ["--forced"], False),
        ("--force", ["force"], False),
        ("-f", ["-xf"], True),
        ("-f", ["--f"], False),
        ("-rf", ["-r", "-f"], True),
        ("-rf", ["-r"], False),
        ("-auto-approve", ["--auto-approve"], True),
        ("-auto-approve", ["-auto-approve=true"], True),
        ("--grace-period=0", ["--grace-period", "0"], True),
        ("--grace-period=0", ["--grace-period=30"], False),
        ("--grace-period=0", ["--grace-period"], False),
        ("/s", ["/S"], True),
    ],
)
def test_an_option_is_given_apart_joined_or_with_its_value(wanted: str, arguments: list[str], *, given: bool) -> None:
    assert has_option(wanted, arguments) is given


@pytest.mark.parametrize(
    ("line", "dry"),
    [
        ("terraform destroy --help", True),
        ("kubectl delete ns x --dry-run=client", True),
        ("apt-get -s purge python3", True),
        ("apt-get -sy purge python3", True),
        ("apt-get -y purge python3", False),
        ("git help push", True),
        ("git push --force -n", False),
        ("git commit -m --help", False),
        ("rm -rf --dry-runner", False),
        ("bq query --dry_run x", True),
        ("mc rm --fake --recursive play/bucket", True),
        ("kubectl --context kind-dev delete ns x", True),
        ("kubectl --context kind delete ns x", False),
        ("redis-cli -h localhost flushall", True),
        ("redis-cli -h cache.prod flushall", False),
        ("VAULT_ADDR=http://127.0.0.1:8200 vault kv delete secret/a", True),
        ("psql postgres://u@localhost:5433/scratch -c x", True),
        ("mysql -h prod -uroot app_test -e x", True),
        ("mysql -utest shop -e x", False),
        ("sqlite3 /tmp/a.db x", True),
        ("curl -X DELETE http://localhost:9200/logs", True),
        ("curl -X DELETE https://x.example/a?next=http://localhost:1", False),
        ("curl -d url=http://localhost:1 https://x.example/hooks", False),
        ("aws rds modify-db-instance --db-instance-identifier orders-test --no-deletion-protection", True),
        ("aws rds modify-db-instance --db-instance-identifier orders --no-deletion-protection", False),
        ("hcloud context delete old", True),
        ("scw config profile delete old", True),
        ("circleci context delete github acme prod", False),
        ("git config --unset user.name", False),
    ],
)
def test_a_dry_run_or_a_look_at_the_help_is_known(line: str, *, dry: bool) -> None:
    (command,) = parse_commands(line)
    assert is_dry(command) is dry


def test_what_runs_in_a_container_for_tests_harms_nobody() -> None:
    assert is_dry(parse_commands("docker exec redis-test redis-cli flushall")[1])
    assert not is_dry(parse_commands("docker exec redis-live redis-cli flushall")[1])


@pytest.mark.parametrize(
    "line",
    [
        "cd /tmp/clone && git reset --hard",
        'cd "$(mktemp -d)" && git clean -fdx',
        "git -C /tmp/clone checkout -f main",
        "restic -r /tmp/repo forget latest --prune",
        "borg delete /tmp/repo::old",
        "docker compose -p ci-1234 down -v",
        "kubectl delete ns pr-341-preview",
        "kubectl -n shop-e2e delete deploy --all",
        "helm uninstall shop -n pr-341",
        "docker rm -f $(docker ps -aq --filter label=org.testcontainers=true)",
    ],
)
def test_what_acts_on_scratch_or_on_a_place_for_tests_harms_nobody(line: str) -> None:
    assert is_dry(parse_commands(line)[-1])


@pytest.mark.parametrize(
    "line",
    [
        "cd /tmp/clone && git push --force",
        "cd /tmp/clone && git branch -D main",
        "cd build && git reset --hard",
        "cd /tmp/../srv/shop && git reset --hard",
        "restic -r /srv/backup forget latest --prune",
        "docker compose -p shop down -v",
        "kubectl delete ns live-preview",
        "kubectl delete ns shop",
    ],
)
def test_what_only_looks_like_scratch_counts(line: str) -> None:
    assert not is_dry(parse_commands(line)[-1])
