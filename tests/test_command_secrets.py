"""Secrets among the arguments of real commands: none is written, whatever it is, and other commands stay readable."""

from __future__ import annotations

import random

import pytest

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
        "github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec",
    ],
)  # fmt: skip
def test_commands_and_code_without_a_secret_stay_as_they_are(command: str) -> None:
    assert redact(command) == command
