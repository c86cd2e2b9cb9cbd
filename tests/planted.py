"""Invented secrets in the formats that scanners know, generated from a seed; none of them opens anything.

Each format is put together from its published shape only when needed, so that no scanner reports this file.
"""

from __future__ import annotations

import base64
import random
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"
BASE64 = WORD + "+/"
URL64 = WORD + "-_"

# name: pieces, each a text, or an alphabet with how many characters are drawn from it
SHAPES: dict[str, tuple[str | tuple[str, int], ...]] = {
    "aws access key": ("AK" + "IA", (UPPER + "234567", 16)),
    "aws session key": ("AS" + "IA", (UPPER + "234567", 16)),
    "gcp api key": ("AI" + "za", (URL64, 35)),
    "gcp oauth": ("ya" + "29.", (URL64, 60)),
    "gcp client secret": ("GOC" + "SPX-", (URL64, 28)),
    "azure client secret": ((WORD, 3), "8Q~", (WORD, 31)),
    "azure devops": ((LOWER + DIGITS, 52),),
    "alibaba": ("LT" + "AI", (WORD, 20)),
    "github": ("gh" + "p_", (WORD, 36)),
    "github fine-grained": ("github" + "_pat_", (WORD, 22), "_", (WORD, 59)),
    "github server": ("gh" + "s_", (WORD, 36)),
    "gitlab": ("gl" + "pat-", (URL64, 20)),
    "gitlab runner": ("gl" + "rt-", (URL64, 20)),
    "gitlab deploy": ("gl" + "dt-", (URL64, 20)),
    "bitbucket": ("AT" + "BB", (WORD, 32)),
    "atlassian": ("ATA" + "TT3xFfGF0", (URL64, 170), "=", (HEX.upper(), 8)),
    "slack bot": ("xo" + "xb-", (DIGITS, 12), "-", (DIGITS, 13), "-", (WORD, 24)),
    "slack user": ("xo" + "xp-", (DIGITS, 12), "-", (DIGITS, 12), "-", (DIGITS, 12), "-", (HEX, 32)),
    "slack app": ("xa" + "pp-1-", (UPPER + DIGITS, 11), "-", (DIGITS, 13), "-", (HEX, 64)),
    "discord bot": ("M", (WORD, 23), ".", (WORD, 6), ".", (URL64, 38)),
    "telegram bot": ((DIGITS, 10), ":AA", (URL64, 33)),
    "stripe live": ("sk" + "_live_", (WORD, 24)),
    "stripe test": ("sk" + "_test_", (WORD, 99)),
    "stripe restricted": ("rk" + "_live_", (WORD, 24)),
    "stripe webhook": ("wh" + "sec_", (WORD, 32)),
    "square": ("sq" + "0atp-", (URL64, 22)),
    "shopify": ("sh" + "pat_", (HEX, 32)),
    "paypal": ("access" + "_token$production$", (LOWER + DIGITS, 16), "$", (HEX, 32)),
    "twilio key": ("S" + "K", (HEX, 32)),
    "twilio account": ("A" + "C", (HEX, 32)),
    "sendgrid": ("S" + "G.", (URL64, 22), ".", (URL64, 43)),
    "mailgun": ("k" + "ey-", (HEX, 32)),
    "mailchimp": ((HEX, 32), "-us12"),
    "brevo": ("xk" + "eysib-", (HEX, 64), "-", (WORD, 16)),
    "openai": ("s" + "k-", (WORD, 48)),
    "openai project": ("s" + "k-proj-", (URL64, 100)),
    "anthropic": ("s" + "k-ant-api03-", (URL64, 93), "AA"),
    "groq": ("gs" + "k_", (WORD, 52)),
    "hugging face": ("h" + "f_", (LOWER + UPPER, 34)),
    "replicate": ("r" + "8_", (WORD, 37)),
    "perplexity": ("pp" + "lx-", (WORD, 48)),
    "npm": ("np" + "m_", (WORD, 36)),
    "pypi": ("py" + "pi-AgEIcHlwaS5vcmc", (URL64, 90)),
    "rubygems": ("ruby" + "gems_", (HEX, 48)),
    "docker": ("dck" + "r_pat_", (URL64, 27)),
    "heroku": ("HR" + "KU-AA", (URL64, 58)),
    "digitalocean": ("do" + "p_v1_", (HEX, 64)),
    "databricks": ("da" + "pi", (HEX, 32)),
    "vault": ("hv" + "s.", (URL64, 92)),
    "terraform cloud": ((WORD, 14), ".atlas" + "v1.", (URL64, 64)),
    "pulumi": ("p" + "ul-", (HEX, 40)),
    "doppler": ("dp" + ".pt.", (WORD, 43)),
    "planetscale": ("pscale" + "_tkn_", (URL64, 43)),
    "supabase": ("sb" + "p_", (HEX, 40)),
    "netlify": ("nf" + "p_", (WORD, 36)),
    "fly": ("fo" + "1_", (URL64, 43)),
    "render": ("rn" + "d_", (WORD, 32)),
    "grafana": ("gl" + "sa_", (WORD, 32), "_", (HEX, 8)),
    "sentry": ("sn" + "tryu_", (HEX, 64)),
    "new relic": ("NR" + "AK-", (UPPER + DIGITS, 27)),
    "datadog": ((HEX, 32),),
    "datadog application": ((HEX, 40),),
    "dynatrace": ("dt" + "0c01.", (UPPER + DIGITS, 24), ".", (UPPER + DIGITS, 64)),
    "linear": ("lin" + "_api_", (WORD, 40)),
    "notion": ("nt" + "n_", (WORD, 46)),
    "postman": ("PM" + "AK-", (HEX, 24), "-", (HEX, 34)),
    "figma": ("fi" + "gd_", (URL64, 40)),
    "tailscale": ("ts" + "key-auth-", (WORD, 11), "-", (WORD, 32)),
    "facebook": ("E" + "AA", (WORD, 120)),
    "age": ("AGE-SECRET" + "-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "openshift": ("sha" + "256~", (URL64, 43)),
    "1password": ("ops" + "_eyJ", (BASE64, 250)),
    "jwt": ("ey" + "J", (URL64, 34), ".eyJ", (URL64, 60), ".", (URL64, 43)),
}
# What is secret only by what stands around it: how it is said, with the secret in the place of the braces.
NAMED = {
    "aws secret": ("aws_secret_access_key = {}", BASE64, 40),
    "azure storage": ("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};Suffix=core.x", BASE64, 88),
    "azure service bus": ("Endpoint=sb://a.b/;SharedAccessKeyName=Root;SharedAccessKey={}", BASE64, 44),
    "heroku old": ("HEROKU_API_KEY={}", HEX, 36),
    "postgres address": ("postgres://app:{}@db.internal:5432/shop", WORD, 14),
    "mongo address": ("mongodb+srv://app:{}@cluster0.x.net/shop?w=majority", WORD, 14),
    "redis address": ("redis://:{}@cache:6379/0", WORD, 20),
    "jdbc": ("jdbc:mysql://db/shop?user=app&password={}", WORD, 12),
    "odbc": ("Driver=x;Server=db;Uid=sa;Pwd={};", WORD, 12),
    "basic": ("Authorization: Basic {}", BASE64, 24),
    "bearer": ("curl -H 'Authorization: Bearer {}' https://api.example.org", URL64, 24),
    "curl user": ("curl -u admin:{} https://api.example.org/v1", WORD, 12),
    "git remote": ("git clone https://oauth2:{}@git.example.org/a/b.git", WORD, 26),
    "json password": ('{{"user": "app", "password": "{}"}}', WORD, 9),
    "yaml password": ("db_password: {}", LOWER, 9),
    "option": ("mysqldump --password {} shop", LOWER, 9),
    "said": ("the password is {} by the way", LOWER + DIGITS, 12),
    "slack webhook": ("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{}", WORD, 24),
    "discord webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", URL64, 68),
    "telegram address": ("https://api.telegram.org/bot123456789:{}/sendMessage", URL64, 35),
    "phrase": ('password: "{} horse battery staple"', LOWER, 9),
    "private key": ("-----BEGIN RSA PRIVATE" + " KEY-----\n{}\n-----END RSA PRIVATE" + " KEY-----", BASE64, 64),
    "private key in JSON": ('"key": "-----BEGIN PRIVATE' + " KEY-----\\n{}\\n-----END PRIVATE" + ' KEY-----\\n"',
                            BASE64, 64),
    "mail": ("write to {}@example.org, please", LOWER, 12),
}  # fmt: skip


def makers(chance: random.Random) -> dict[str, Callable[[], tuple[str, str]]]:
    """Return, for each format, a function that makes a secret and the words in which it is said."""

    def shaped(pieces: tuple[str | tuple[str, int], ...]) -> tuple[str, str]:
        drawn = [piece if isinstance(piece, str) else draw(*piece) for piece in pieces]
        secret = "".join(drawn)
        return secret, chance.choice(SAID).format(secret)

    def named(said: str, alphabet: str, size: int) -> tuple[str, str]:
        secret = draw(alphabet, size)
        return secret, said.format(secret)

    def draw(alphabet: str, size: int) -> str:
        while True:
            drawn = "".join(chance.choices(alphabet, k=size))
            mixed = any(char.isdigit() for char in drawn) or not set(alphabet) & set(DIGITS)
            if mixed and drawn[0] not in "-_" and drawn[-1] not in "-_":
                return drawn

    found: dict[str, Callable[[], tuple[str, str]]] = {}
    for name, pieces in SHAPES.items():
        found[name] = lambda pieces=pieces: shaped(pieces)  # type: ignore[misc]  # bound now, not when called
    for name, (said, alphabet, size) in NAMED.items():
        found[name] = lambda given=(said, alphabet, size): named(*given)  # type: ignore[misc]
    found["basic in an address"] = lambda: _encoded(draw(WORD, 12))
    return found


def _encoded(password: str) -> tuple[str, str]:
    secret = base64.b64encode(f"app:{password}".encode()).decode()
    return secret, f"headers = {{'Authorization': 'Basic {secret}'}}"


SAID = (
    "{}", "use {} now", "KEY={}", "export TOKEN='{}'", '{{"token": "{}"}}', "it says: {}.", "the call with {} failed",
    "curl -H 'X-Auth: {}' https://api.example.org", "https://api.example.org/v1?key={}&page=2", "**{}**", "({})",
    "first line\n{}\nlast line", "a,{},b", 'x = "{}"  # old',
)  # fmt: skip
