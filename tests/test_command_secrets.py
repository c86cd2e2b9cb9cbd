"""Secrets among the arguments of real commands: none is written, whatever it is, and other commands stay readable."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from deia import spool
from deia.redaction import redact

# Real shapes of commands and files that carry a password, with the password in the place of the braces.
SHAPES = [
    "DB_PASS={} npm start",
    "export SMTP_PASS='{}'",
    "sshpass -p {} ssh root@10.0.0.5",
    "sshpass -p'{}' scp a b:",
    "mysql -uroot -p{} shop < dump.sql",
    "mysqldump -h db -u app -p'{}' shop",
    "mongosh -u admin -p {} --authenticationDatabase admin",
    "mongodump --uri mongodb://u:{}@h/db",
    "redis-cli -h cache -a {} FLUSHALL",
    "docker login -u ci -p {} registry.example.com",
    'sqlcmd -S db -U sa -P {} -Q "select 1"',
    "zip -P {} out.zip secret.txt",
    "7z a -p{} out.7z dir",
    "az login --service-principal -u app -p {} --tenant t",
    "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "smbclient //h/share -U bob%{}",
    "echo root:{} | chpasswd",
    "usermod -p '{}' bob",
    "htpasswd -b .htpasswd bob {}",
    "htpasswd -nbB bob {}",
    "CREATE USER 'x'@'%' IDENTIFIED BY '{}';",
    "ALTER USER app WITH PASSWORD '{}';",
    "ALTER USER app WITH PASSWORD '${}';",
    "sqlplus scott/{}@orcl",
    "aws configure set aws_secret_access_key {}",
    '<add key="Password" value="{}"/>',
    "contraseña: {}",
    "mot de passe : {}",
    "密码\uff1a{}",
    "пароль={}",
    'senha = "{}"',
    "curl -u admin:{} https://x.example.org",
    "wget --http-password={} https://x",
    "http -a admin:{} GET x.example.org",
    "rabbitmqctl add_user bob {}",
    "net user bob {} /add",
    "openssl enc -aes-256-cbc -k {} -in a",
    "openssl rsa -in k.pem -passin pass:{}",
    "keytool -genkey -storepass {} -alias x",
    "echo {} | sudo -S rm x",
    "echo '{}' | docker login --password-stdin -u ci",
    "kubectl create secret generic db --from-literal=foo={}",
    "gh secret set TOKEN --body {}",
    "PGPASSWORD={} psql -h db",
    'psql "host=db user=app password={} dbname=shop"',
    "xfreerdp /v:host /u:bob /p:{}",
    "snmpwalk -v3 -A {} host",
    "ipmitool -H h -U admin -P {} chassis status",
    "mosquitto_pub -u u -P {} -t x",
    "mvn deploy -Drepo.password={}",
    'terraform apply -var "db_password={}"',
    "git clone https://bob:{}@git.example.org/x.git",
    "helm registry login r.example.com -u ci -p {}",
    "oc login -u dev -p {}",
    "jenkins-cli -auth bob:{} list",
    "SET PASSWORD FOR 'x' = PASSWORD('{}');",
    'ansible all -e "ansible_become_pass={}"',
    "vault login {}",
    "unzip -P {} x.zip",
    "ncftpput -u bob -p {} host / f",
    "MAIL_PW={} ./run",
    "api_secret: {}",
    "bash -c \"mysql -p{} -e 'drop table x'\"",
    "ssh db 'mysql -uroot -p{} shop'",
    "FTP_PASSWD={} lftp -u bob,{} host",
    "npm config set //registry.example.org/:_authToken {}",
    "rclone obscure {}",
    "cqlsh -u cassandra -p {} host",
    "az acr login -n reg -u u -p {}",
    'echo "{}" | cryptsetup luksOpen /dev/sdb x',
    "echo {} | gh auth login --with-token",
    "spring.datasource.password={}",
    '"connectionString": "Server=db;User Id=sa;Password={};"',
    '-H "X-Api-Key: {}"',
    'curl -H "Authorization: token {}" x',
    "smbpasswd -w {}",
]
# Where such a command stands: in talk, in a prompt, in a diff, in a file, among others.
FRAMES = [
    "the command `{}` failed", "bash: {}: not found", "deia held this call: {}, since it drops a table", "$ {}", "> {}",
    "I'll run `{}` now; it doesn't take long.", "```\n{}\n```", "+{}", "-{}", "cd /srv && {}", "sudo {}", "{} # later",
    "({})", "{} 2>&1 | tail", "it's\n{}\ndon't", "* {}", "RUN {}", "    - run: {}",
]  # fmt: skip
LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"


def passwords(shape: str) -> list[str]:
    """Return passwords as people choose and as programs make them, drawn anew for each shape."""
    chance = random.Random(shape)  # noqa: S311 - they open nothing
    word = "".join(chance.choices(LETTERS.lower(), k=7))
    made = "".join(chance.choices(LETTERS + "0123456789", k=14))
    return [f"{word}{chance.randrange(10, 99)}", f"{word.title()}{chance.randrange(100)}!", made + "7", f"x{made}_Q2"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_secret_among_the_arguments_of_a_command_is_hidden(shape: str) -> None:
    for secret in [*passwords(shape), *passwords(f"{shape} "), "Xq7hunter2zz"]:
        text = shape.replace("{}", secret)
        assert secret not in redact(text), text


@pytest.mark.parametrize("frame", FRAMES)
def test_it_is_hidden_wherever_the_command_stands(frame: str) -> None:
    texts = [
        (secret, frame.replace("{}", shape.replace("{}", secret))) for shape in SHAPES for secret in passwords(shape)
    ]
    assert [text for secret, text in texts if secret in redact(text)] == []


@pytest.mark.parametrize("times", [1, 2])
def test_it_is_hidden_in_json_and_in_json_within_json(times: int) -> None:
    quoted = ['sshpass -p "{}" ssh a', 'mysql -u root -p"{}" shop', 'echo "{}" | cryptsetup luksOpen /dev/sdb x']
    for shape in (*SHAPES, *quoted):
        for secret in passwords(shape):
            text = shape.replace("{}", secret)
            for _ in range(times):
                text = json.dumps({"command": text}, ensure_ascii=False)
            assert secret not in redact(text), text


@pytest.mark.slow
def test_of_four_hundred_secrets_in_sixty_shapes_of_commands_none_is_in_the_ledger(tmp_path: Path) -> None:
    planted = [secret for shape in SHAPES for secret in _log(str(tmp_path), shape)]
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.jsonl"))
    assert len(SHAPES) >= 60
    assert len(set(planted)) >= 400
    assert written.count('"event":"injection"') == len(planted)
    assert [secret for secret in planted if secret in written] == []


def _log(folder: str, shape: str) -> list[str]:
    """Write events that quote a command, each with another secret, in the fields in which the hook and searches do."""
    secrets = [*passwords(shape), *passwords(f" {shape}")]
    for secret in secrets:
        command = shape.replace("{}", secret)
        fields = {
            "query": command,
            "because": f"the command `{command}`",
            "error": f"failed: {command}",
            "e": [command],
        }
        spool.append(folder, "injection", fields)
    return secrets


@pytest.mark.parametrize(
    "command",
    [
        "docker run -p 8080:80 nginx", "mysql -p shop", "mkdir -p src/deep/path", "cp -p a b", "ssh -p 2222 host",
        "git add -p file", "redis-cli -h cache info", "zip -r out.zip dir", "7z x archive.7z", "echo hello | grep x",
        "az vm list -o table", "sudo -u postgres psql", "htpasswd -c file bob", "sql is fun/yes or no",
        "python -m pytest -p no:cacheprovider", "pass: 12 tests passed", "--- PASS: TestParse (0.00s)",
        "unzip -l x.zip", "git config user.name Bob", "echo $PASS | sudo -S ls", "in the first pass: look around",
        "sessionID := node.Parent.SessionID", "tokenUsage: tokenUsageFromAttributes(span)", "id-token: write",
        "commit 72d651196b4a6f6577c23fa776f3990f5b2b015b", "git show d9763f127911fb49ba762d09ef93f1ca570ed66a",
        "toolu_01HVScXL9AFa33Eg9upycaNk", "bok/2d6123fc-6a96-4117-ad03-29d18eabadb2/task-25",
        "github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec", "dist/getMachineId-win-YZ36S7VA.js",
        "12/c9b5891b11/metadata.json", "cat flash_c8429a430278283c0e571baebca3d139.img", "refs/heads/a/195acb2-e3b0c4",
        "git show d9763f127911fb49ba762d09ef93f1ca570ed66a:.github/workflows/release.yml",
        "https://github.com/a/b/blob/8da0b9b215ebfad5756051c891def88e426787e7/src/lib.rs#L10",
        "https://github.com/user-attachments/assets/0ea9a528-2112-4f46-8bd2-b96d76621067",
        "/var/folders/jc/p0flb9dx5x3bck7thdb0wfxr0000gn/T/TestShouldWatch_Nested3063760289/001/cache.tmp",
        "uuid: '5c5c287-6febd-4c87-b80c-d0655f1cd3fd'", "`TestMsEpochToRFC3339`", "**Summary of token situation:**",
        "cache_read_tokens: 30481519", "const token = reg.json.data?.register?.token;", "console.log('token', !!token)",
        "token=[REDACTED:rule-a]", "rg 'Bearer [A-Za-z0-9_-]+'", "expires an old token 1108ms after",
        "curl -F file=@printenv.pl", "rg api-key /home/user/.local/lib/node_modules/@a/b-1.2.3/dist/main.js",
        'notarytool submit --password "$APPLE_PASSWORD" a.zip', r'run --password \"${DB_PASSWORD}\" --team b',
        "api_key: '${{ secrets.KEY }}'", "endpoint?url=https%3A%2F%2Fa.example.com%2Fapi%2Fbadge%3Fstat%3Dinstalls",
    ],
)  # fmt: skip
def test_commands_and_code_without_a_secret_stay_as_they_are(command: str) -> None:
    assert redact(command) == command
