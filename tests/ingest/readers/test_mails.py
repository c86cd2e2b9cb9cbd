from __future__ import annotations

from contextlib import suppress
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ingest.read import read
from deia.ingest.reading import ReadingError


def mail(subject: str = "Grüße", body: str = "Hello.\n\n# not a heading\n") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"], message["Date"] = (
        "Ann <ann@example.org>",
        subject,
        "Mon, 23 Nov 2026 10:00:00 +0000",
    )
    message.set_content(body)
    return message


def test_a_mail_is_its_subject_who_wrote_it_when_and_what() -> None:
    reading = read("a.eml", mail().as_bytes())
    assert reading.title == "Grüße"
    assert reading.text.startswith("# Grüße\n\nFrom: Ann <ann@example.org>\nDate: Mon, 23 Nov 2026")
    assert reading.text.endswith("Hello.\n\n # not a heading")


def test_an_attachment_is_named_and_not_read() -> None:
    message = mail()
    message.add_attachment(b"\0\1", maintype="application", subtype="zip", filename="plan.zip")
    assert read("a.eml", message.as_bytes()).notes == ("The attachment plan.zip was not read.",)


def test_many_attachments_are_counted_and_a_long_name_is_cut() -> None:
    message = mail()
    for number in range(1200):
        message.add_attachment(b"x", maintype="application", subtype="zip", filename=f"{number}.zip")
    assert read("a.eml", message.as_bytes()).notes == ("1,200 attachments were not read.",)
    message = mail()
    message.add_attachment(b"x", maintype="application", subtype="zip", filename="long" * 1000)
    (note,) = read("a.eml", message.as_bytes()).notes
    assert len(note) < 200


def test_parts_beyond_those_that_are_read_are_counted_too() -> None:
    nested = b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\nContent-Type: text/plain\n\nHello.\n" * 3000
    assert read("a.eml", nested + b"--x--\n").notes == ("2,800 attachments were not read.",)


def test_a_message_that_is_only_html_is_read_as_a_page() -> None:
    pytest.importorskip("selectolax")
    message = EmailMessage()
    message.set_content("<h2>News</h2><p>Words", subtype="html")
    assert read("a.eml", message.as_bytes()).text == "# (no subject)\n\n## News\n\nWords"


def test_a_mailbox_is_all_its_messages() -> None:
    box = b"".join(b"From ann Mon Nov 23 10:00:00 2026\n" + mail(f"Number {n}").as_bytes() + b"\n" for n in range(3))
    reading = read("box", box)
    assert (reading.type, reading.metadata["messages"]) == ("email", 3)
    assert [line for line in reading.text.split("\n") if line.startswith("# ")] == [
        "# Number 0",
        "# Number 1",
        "# Number 2",
    ]


def test_a_date_that_no_calendar_has_costs_no_more_than_the_date() -> None:
    text = read("a.eml", b"Subject: s\nDate: Mon, 23 Nov 99999999999999999999 10:00:00 +0000\n\nWords").text
    assert text == "# s\n\nWords"


def multipart(*parts: str, kind: str = "mixed") -> bytes:
    """Return a message of parts, each with its headers."""
    inside = "".join(f"--x\n{part}\n" for part in parts)
    return f"Subject: outer\nContent-Type: multipart/{kind}; boundary=x\n\n{inside}--x--\n".encode()


def plain(text: str) -> str:
    return f"Content-Type: text/plain\n\n{text}"


def page(text: str) -> str:
    return f"Content-Type: text/html\n\n<p>{text}</p>"


def test_all_inline_texts_of_a_message_are_read_in_their_order() -> None:
    pytest.importorskip("selectolax")
    assert read("a.eml", multipart(page("body"), plain("footer"))).text == "# outer\n\nbody\n\nfooter"
    assert read("a.eml", multipart(plain("one"), plain("two"))).text == "# outer\n\none\n\ntwo"


def test_of_alternatives_one_is_read_and_what_is_attached_to_any_is_named() -> None:
    pytest.importorskip("selectolax")
    attached = "Content-Type: text/plain\nContent-Disposition: attachment; filename=plan.txt\n\nplan"
    related = multipart(page("rich"), attached, kind="related").decode().replace("Subject: outer\n", "")
    related = related.replace("boundary=x", "boundary=y").replace("--x", "--y")
    reading = read("a.eml", multipart(plain("words"), related, kind="alternative"))
    assert (reading.text, reading.notes) == ("# outer\n\nwords", ("The attachment plan.txt was not read.",))
    assert read("a.eml", multipart(plain(" "), related, kind="alternative")).text == "# outer\n\nrich"


def test_a_forwarded_mail_stands_under_its_own_subject() -> None:
    pytest.importorskip("selectolax")
    forwarded = f"Content-Type: message/rfc822\n\nFrom: d@x.org\nSubject: inner\n{plain('within')}"
    text = read("a.eml", multipart(page("before"), forwarded, plain("after"))).text
    assert text == "# outer\n\nbefore\n\n## inner\n\nFrom: d@x.org\n\nwithin\n\nafter"


def test_an_attached_mail_and_a_file_that_is_shown_within_are_named_and_not_read() -> None:
    attached = "Content-Type: message/rfc822\nContent-Disposition: attachment; filename=a.eml\n\nSubject: s\n\nwithin"
    shown = "Content-Type: application/pdf\nContent-Disposition: inline; filename=b.pdf\n\n%PDF"
    reading = read("a.eml", multipart(plain("words"), attached, shown))
    assert reading.text == "# outer\n\nwords"
    assert reading.notes == ("The attachment a.eml was not read.", "The attachment b.pdf was not read.")


@pytest.mark.parametrize("kind", ["mixed", "alternative"])
def test_parts_in_parts_are_read_however_deep(kind: str) -> None:
    heads = "".join(f"Content-Type: multipart/{kind}; boundary=b{n}\n\n--b{n}\n" for n in range(60))
    assert read("a.eml", f"Subject: s\n{heads}{plain('core')}\n".encode()).text == "# s\n\ncore"
    forwards = "Content-Type: message/rfc822\n\n" * 60
    assert read("a.eml", f"Subject: s\n{forwards}{plain('core')}\n".encode()).text.endswith("core")


def test_a_line_of_a_body_that_begins_with_from_separates_no_messages() -> None:
    box = (
        b"From a@x.org Mon Jan  1 00:00:00 2024\nSubject: one\n\nHello.\n\n"
        b"From now on we mix it with water.\nAnd so on.\n\n"
        b"From Monday 4 May 2026 it is closed.\n\nFrom b@x.org Mon Jan  1 00:00:00 2024\nSubject: two\n\nBye.\n"
    )
    reading = read("a.mbox", box)
    assert reading.metadata["messages"] == 2
    assert "Hello.\n\nFrom now on we mix it with water.\nAnd so on.\n\nFrom Monday 4 May 2026 it" in reading.text


@pytest.mark.parametrize("line", [
    "From ann Mon Nov 23 10:00:00 2026", "From - Mon Nov 23 10:00 2026", "From ann at x.org  Mon Nov 23 10:00:00 2026",
    "From 17@xxx Mon Nov 23 10:00:00 +0000 2026", "From ann@x.org Mon, 23 Nov 2026 10:00:00 +0100 (CET)\r",
    'From "Ann B"@x.org Mon Nov  3 10:00:00 CET 2026', "From ann Mon Nov 23 10:00:00 2026 remote from host",
    "From ann 2026-11-23 10:00:00", "From ann 2026-11-23T10:00:00+01:00", "From ann 23 Nov 2026",
])  # fmt: skip
def test_lines_separate_messages_as_mail_programs_write_them(line: str) -> None:
    box = f"{line}\nSubject: one\n\nHello.\n\n{line}\nSubject: two\n\nBye.\n".encode()
    assert read("box", box).metadata["messages"] == 2


@pytest.mark.parametrize("line", ["From nobody", "From ann am Montag um zehn"])
def test_a_mailbox_with_other_separators_is_separated_where_headers_follow(line: str) -> None:
    box = f"{line}\nSubject: one\n\nHello.\n\nFrom now on.\n\n{line}\nSubject: two\n\nBye.\n".encode()
    reading = read("a.mbox", box)
    assert reading.metadata["messages"] == 2
    assert "From now on." in reading.text


def test_a_text_that_begins_with_from_is_no_mail() -> None:
    reading = read("notes", b"From now on we mix it with water.\nAnd so on.\n")
    assert (reading.type, reading.text) == ("text", "From now on we mix it with water.\nAnd so on.\n")


WORDS = st.lists(st.text("abcdeF :;.-9", min_size=1, max_size=9), max_size=6).map(lambda words: " ".join(words).strip())


@given(st.lists(WORDS.map(lambda words: f"From {words}".strip()), min_size=1, max_size=5))
def test_no_line_of_a_body_is_lost(lines: list[str]) -> None:
    box = "From ann Mon Nov 23 10:00:00 2026\nSubject: s\n\nHello.\n\n" + "\n\n".join(lines) + "\n"
    text = read("a.mbox", box.encode()).text
    assert all(line in text for line in lines)


TEXTS = st.recursive(
    st.sampled_from(["one", "two", "three"]).map(plain),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=12,
)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_every_text_of_a_mixed_message_is_read_once_and_in_order(tree: list[object]) -> None:
    numbers = iter(range(1000))
    found: list[str] = []

    def written(part: object) -> str:
        if isinstance(part, str):
            found.append(part.rsplit("\n", 1)[-1])
            return part
        assert isinstance(part, list)
        name = f"b{next(numbers)}"
        inside = "".join(f"--{name}\n{written(inner)}\n" for inner in part)
        return f"Content-Type: multipart/mixed; boundary={name}\n\n{inside}--{name}--"

    text = read("a.eml", f"Subject: s\n{written(tree)}".encode()).text
    assert text.split("\n\n")[1:] == found


HEADERS = st.sampled_from([
    b"Content-Type: multipart/mixed; boundary=x", b"Content-Type: text/plain; charset=nonsense", b"--x", b"--x--", b"",
    b"Content-Type: message/rfc822", b"Content-Transfer-Encoding: base64", b"Subject: =?utf-8?q?=ff?=", b"From: ,;<>",
    b"Content-Disposition: attachment; filename*=utf-8''%ff", b"Date: never", b"Content-Transfer-Encoding: uuencode",
])  # fmt: skip


@given(st.lists(st.one_of(HEADERS, st.binary(max_size=12)), max_size=30))
def test_any_mail_is_read_or_refused(lines: list[bytes]) -> None:
    with suppress(ReadingError):
        read("a.eml", b"\n".join(lines))
