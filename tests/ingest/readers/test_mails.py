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


HEADERS = st.sampled_from([
    b"Content-Type: multipart/mixed; boundary=x", b"Content-Type: text/plain; charset=nonsense", b"--x", b"--x--", b"",
    b"Content-Type: message/rfc822", b"Content-Transfer-Encoding: base64", b"Subject: =?utf-8?q?=ff?=", b"From: ,;<>",
    b"Content-Disposition: attachment; filename*=utf-8''%ff", b"Date: never", b"Content-Transfer-Encoding: uuencode",
])  # fmt: skip


@given(st.lists(st.one_of(HEADERS, st.binary(max_size=12)), max_size=30))
def test_any_mail_is_read_or_refused(lines: list[bytes]) -> None:
    with suppress(ReadingError):
        read("a.eml", b"\n".join(lines))
