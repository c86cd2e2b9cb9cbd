"""Tests of error texts: the informative line is found, and what differs between runs is dropped."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.question.error_text import cleaned, is_error_code, read_failure

# ruff: noqa: E501 - what programs print is as long as it is
PRINTED = {
    "python": (
        [
            "Traceback (most recent call last):",
            '  File "/srv/app/main.py", line 12, in <module>',
            "    run()",
            '  File "/srv/app/core.py", line 88, in run',
            '    return settings["token"]',
            "KeyError: 'token'",
        ],
        "KeyError: 'token'",
    ),
    "python chain": (
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 1, in f',
            "    x()",
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "",
            "During handling of the above exception, another exception occurred:",
            "",
            "Traceback (most recent call last):",
            '  File "b.py", line 3, in g',
            "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not connect to server",
        ],
        "sqlalchemy.exc.OperationalError",
    ),
    "node": (
        [
            "/home/me/app/index.js:10",
            "    const x = user.profile.name;",
            "                           ^",
            "",
            "TypeError: Cannot read properties of undefined (reading 'name')",
            "    at Object.<anonymous> (/home/me/app/index.js:10:28)",
            "    at Module._compile (node:internal/modules/cjs/loader:1256:14)",
            "    at node:internal/main/run_main_module:23:47",
            "",
            "Node.js v18.17.0",
        ],
        "TypeError: Cannot read properties of undefined (reading 'name')",
    ),
    "npm": (
        [
            "npm ERR! code ERESOLVE",
            "npm ERR! ERESOLVE unable to resolve dependency tree",
            "npm ERR!",
            "npm ERR! While resolving: app@1.0.0",
            "npm ERR! Found: react@18.2.0",
            "npm ERR! A complete log of this run can be found in:",
            "npm ERR!     /root/.npm/_logs/2024-02-11T10_10_10_000Z-debug-0.log",
        ],
        "ERESOLVE unable to resolve dependency tree",
    ),
    "pnpm": (
        [
            ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json',
        ],
        "ERR_PNPM_OUTDATED_LOCKFILE",
    ),
    "java": (
        [
            "2024-02-11 10:11:12.123 ERROR 4711 --- [nio-8080-exec-1] o.a.c.c.C.[.[.[/].[dispatcherServlet] : Servlet.service() threw exception",
            "java.lang.IllegalStateException: Failed to load ApplicationContext",
            "\tat org.springframework.test.context.Foo.bar(Foo.java:124)",
            "\tat java.base/java.lang.Thread.run(Thread.java:833)",
            "Caused by: org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'dataSource'",
            "\tat org.springframework.beans.Foo(Foo.java:1)",
            "\t... 23 more",
            "Caused by: java.sql.SQLException: Access denied for user 'app'@'10.0.0.7'",
            "\tat com.mysql.Foo(Foo.java:1)",
            "\t... 40 more",
        ],
        "java.sql.SQLException: Access denied for user",
    ),
    "java main": (
        [
            'Exception in thread "main" java.lang.NullPointerException: Cannot invoke "String.length()" because "s" is null',
            "\tat com.example.Main.main(Main.java:5)",
        ],
        "java.lang.NullPointerException",
    ),
    "go": (
        [
            "panic: runtime error: invalid memory address or nil pointer dereference",
            "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4a3c1d]",
            "",
            "goroutine 1 [running]:",
            "main.main()",
            "\t/home/me/src/app/main.go:12 +0x1d",
            "exit status 2",
        ],
        "panic: runtime error: invalid memory address or nil pointer dereference",
    ),
    "rust": (
        [
            "error[E0308]: mismatched types",
            " --> src/main.rs:3:18",
            "  |",
            '3 |     let x: i32 = "a";',
            "  |            ---   ^^^ expected `i32`, found `&str`",
            "  |            |",
            "  |            expected due to this",
            "",
            "For more information about this error, try `rustc --explain E0308`.",
            'error: could not compile `app` (bin "app") due to 1 previous error',
        ],
        "error[E0308]: mismatched types",
    ),
    "rust panic": (
        [
            "thread 'main' panicked at src/main.rs:4:10:",
            "called `Option::unwrap()` on a `None` value",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        ],
        "called `Option::unwrap()` on a `None` value",
    ),
    "dotnet": (
        [
            "Unhandled exception. System.InvalidOperationException: Sequence contains no elements",
            "   at System.Linq.ThrowHelper.ThrowNoElementsException()",
            "   at Program.<Main>$(String[] args) in C:\\src\\app\\Program.cs:line 7",
        ],
        "System.InvalidOperationException: Sequence contains no elements",
    ),
    "shell": (
        [
            "deploy.sh: line 12: jq: command not found",
        ],
        "command not found",
    ),
    "rm": (
        [
            "rm: cannot remove '/var/lib/data': Device or resource busy",
        ],
        "cannot remove",
    ),
    "sql": (
        [
            'ERROR:  relation "users" does not exist',
            "LINE 1: select * from users;",
            "                      ^",
        ],
        'ERROR: relation "users" does not exist',
    ),
    "mysql": (
        [
            "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)",
        ],
        "Access denied for user",
    ),
    "oracle": (
        [
            "ORA-00942: table or view does not exist",
            '00942. 00000 -  "table or view does not exist"',
            "*Cause:",
        ],
        "ORA-00942: table or view does not exist",
    ),
    "terraform": (
        [
            "╷",
            "│ Error: Error acquiring the state lock",
            "│ ",
            '│   on main.tf line 3, in resource "aws_s3_bucket" "b":',
            '│    3: resource "aws_s3_bucket" "b" {',
            "│ ",
            "│ Error message: ConditionalCheckFailedException: The conditional request failed",
            "│ Lock Info:",
            "│   ID:        9db590f1-b6fe-c5f2-2678-8804f089deba",
            "╵",
        ],
        "Error: Error acquiring the state lock",
    ),
    "kubectl": (
        [
            'Error from server (Forbidden): pods is forbidden: User "dev" cannot list resource "pods" in API group "" in the namespace "prod"',
        ],
        "pods is forbidden",
    ),
    "kubectl events": (
        [
            "Events:",
            "  Type     Reason     Age                From               Message",
            "  ----     ------     ----               ----               -------",
            "  Normal   Scheduled  5m                 default-scheduler  Successfully assigned default/web to node1",
            "  Warning  BackOff    2m (x10 over 4m)   kubelet            Back-off restarting failed container",
        ],
        "Back-off restarting failed container",
    ),
    "kubectl conn": (
        [
            "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        ],
        "The connection to the server",
    ),
    "typescript": (
        [
            "src/app.ts(12,5): error TS2304: Cannot find name 'foo'.",
        ],
        "TS2304: Cannot find name",
    ),
    "git": (
        [
            "error: failed to push some refs to 'git@github.com:me/app.git'",
            "hint: Updates were rejected because the remote contains work that you do",
            "hint: not have locally.",
        ],
        "failed to push some refs",
    ),
    "docker": (
        [
            'docker: Error response from daemon: Conflict. The container name "/web" is already in use by container "3f2a9c8d7e6f5a4b".',
        ],
        "Error response from daemon: Conflict",
    ),
    "log": (
        [
            "2024-02-11T10:11:12.000Z INFO starting",
            "2024-02-11T10:11:13.000Z ERROR dial tcp 10.0.0.5:5432: connect: connection refused",
            "2024-02-11T10:11:14.000Z INFO retrying",
        ],
        "connect: connection refused",
    ),
    "pytest": (
        [
            "    def test_x():",
            ">       assert f(1) == 2",
            "E       AssertionError: assert 1 == 2",
            "E        +  where 1 = f(1)",
            "",
            "tests/test_x.py:4: AssertionError",
            "=========== short test summary info ===========",
            "FAILED tests/test_x.py::test_x - AssertionError: assert 1 == 2",
        ],
        "AssertionError: assert 1 == 2",
    ),
    "php": (
        [
            "PHP Fatal error:  Uncaught Error: Call to undefined function mysql_connect() in /var/www/html/index.php:3",
            "Stack trace:",
            "#0 {main}",
            "  thrown in /var/www/html/index.php on line 3",
        ],
        "Call to undefined function mysql_connect()",
    ),
    "ruby": (
        [
            "app.rb:3:in `foo': undefined method `bar' for nil:NilClass (NoMethodError)",
            "\tfrom app.rb:7:in `<main>'",
        ],
        "undefined method `bar' for nil:NilClass (NoMethodError)",
    ),
    "ansible": (
        [
            'fatal: [web1]: FAILED! => {"changed": false, "msg": "No package matching \'nginx\' found available"}',
        ],
        "No package matching 'nginx' found available",
    ),
    "make": (
        [
            "make: *** [Makefile:12: build] Error 2",
        ],
        "Error 2",
    ),
    "helm": (
        [
            "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
        ],
        "cannot re-use a name",
    ),
    "aws": (
        [
            "An error occurred (AccessDenied) when calling the PutObject operation: Access Denied",
        ],
        "AccessDenied",
    ),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_informative_line_is_found(name: str) -> None:
    printed, telling = PRINTED[name]
    assert telling in read_failure("\n".join(printed)).text


@pytest.mark.parametrize("name", PRINTED)
def test_what_differs_between_runs_is_dropped(name: str) -> None:
    told = read_failure("\n".join(PRINTED[name][0])).text
    for noise in (
        "/srv/",
        "/home/",
        "/root/",
        "0x4a3c1d",
        "2024-02-11",
        "10:11:12",
        "line 12",
        "goroutine",
        "node:internal",
    ):
        assert noise not in told


def test_the_last_cause_of_a_chain_counts() -> None:
    assert "IllegalStateException" not in read_failure("\n".join(PRINTED["java"][0])).text


@pytest.mark.parametrize(
    "word", ["E0308", "ERR_PNPM_OUTDATED_LOCKFILE", "ORA-00942", "TS2304", "ENOENT", "SQLSTATE", "CVE-2024-3094"]
)
def test_error_codes_are_recognised(word: str) -> None:
    assert is_error_code(word)


@pytest.mark.parametrize("word", ["E", "EU", "RFC2616", "UTF-8", "404", "ISO8859", "kubernetes", "A1", ""])
def test_other_capitals_and_numbers_are_not_error_codes(word: str) -> None:
    assert not is_error_code(word)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("open /srv/app/config.yaml failed", "open config.yaml failed"),
        ("at 0x7ffee4c0 in worker 12", "at in worker 12"),
        ("app.py:12:3: bad", "app.py bad"),
        ("HTTP 503 from upstream", "HTTP 503 from upstream"),
        ("commit 3f2a9c8d7e6f is gone", "commit is gone"),
    ],
)
def test_a_cleaned_line_keeps_its_words_without_places(line: str, kept: str) -> None:
    assert cleaned(line) == kept


@given(
    st.text(st.characters(), max_size=300)
    | st.lists(st.sampled_from(["Error:", "at x", "\n", "E ", "│", "caused by:", "[", "0x", ":12"])).map(" ".join)
)
@settings(max_examples=100, deadline=None)
def test_any_text_can_be_parsed(text: str) -> None:
    read_failure(text)


@pytest.mark.parametrize("unit", ["Error: x\n", "at ", "a" * 100, "│ ", ":1", "'/", "\n"])
def test_long_texts_are_parsed_quickly(unit: str) -> None:
    began = time.process_time()
    read_failure(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < 3
