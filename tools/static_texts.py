"""Sentences for training the static vectors, from unpacked documentation packages and from a small grammar.

A folder is named `package_version` and holds the content of the package. Refuses a package whose licence is not listed
here. Nothing of the texts is shipped, only what the transformer made of them.
"""

from __future__ import annotations

import gzip
import random
import re
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from deia.errors import DeiaError
from deia.ingest.read import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

LICENCES = {  # of the documentation, as the package's `copyright` file has it
    **dict.fromkeys(
        "ant-doc aodh-doc apache2-doc awscli barbican-doc buildah cinder-doc designate-doc docker-doc docker.io "
        "erlang-doc glance-doc heat-doc ironic-doc keystone-doc kubernetes-client manila-doc meson murano-doc "
        "neutron-doc nova-doc octavia-doc openssl podman prometheus python-aiohttp-doc python-keystoneauth1-doc "
        "python-keystoneclient-doc python-novaclient-doc python-openstackclient-doc python-openstacksdk-doc "
        "python-oslo.config-doc python-oslo.db-doc python-requests-doc python-swiftclient-doc python-tornado-doc "
        "sahara-doc senlin-doc skopeo subversion swift-doc tomcat10-docs trove-doc twine".split(),
        "Apache-2.0",
    ),
    **dict.fromkeys(
        "black gh git-lfs mypy-doc nodejs-doc pgbackrest-doc pipx python-attr-doc python-pytest-doc "
        "python-sqlalchemy-doc rclone tox".split(),
        "MIT",
    ),
    **dict.fromkeys(
        "borgbackup-doc cmake-doc golang-go lighttpd-doc python-celery-doc python-django-doc python-flask-doc "
        "python-jinja2-doc python-scrapy-doc python-werkzeug-doc".split(),
        "BSD-3-Clause",
    ),
    **dict.fromkeys("restic sphinx-doc varnish-doc".split(), "BSD-2-Clause"),
    **dict.fromkeys("cargo-doc rust-doc".split(), "MIT OR Apache-2.0"),
    **dict.fromkeys("clang-15-doc llvm-15-doc".split(), "Apache-2.0 WITH LLVM-exception"),
    "bind9-doc": "MPL-2.0",
    "cloud-init": "Apache-2.0 OR GPL-3.0-only",
    "debian-descriptions": "those of the packages",
    "krb5-doc": "MIT and similar",
    "libcurl4-doc": "curl",
    "npm": "Artistic-2.0",
    "openssh-client": "BSD-2-Clause and similar",
    "postfix-doc": "IPL-1.0 OR EPL-2.0",
    "python-hypothesis-doc": "MPL-2.0",
    "python3.11-doc": "PSF-2.0",
    "sqlite3-doc": "blessing (public domain)",
    "sudo": "ISC",
    "wordnet-base": "WordNet 3.0",
}
PAGES = (".html", ".html.en", ".xhtml")
PLAIN = (".md", ".txt", ".rst")
WORDNET = ("data.noun", "data.verb", "data.adj", "data.adv")
DESCRIPTIONS = "Translation-en"  # Debian's list of what its packages are
MOST_PAGES = 400  # of a package, from all over it
SKIPPED = {"script", "style", "nav", "footer", "title", "sup"}
FLOWING = {"a", "b", "code", "em", "i", "kbd", "span", "strong", "tt", "var", "cite", "abbr", "samp", "q", "u", "small"}
MOST_BYTES = 600_000  # of a page that is cut at its headings; longer ones are whole books
HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
NUMBERED = re.compile(r"^[\dA-Z]*(?:\.[\d.]*)+\s+|[¶#\uf0c1\s]+$")
MOST_WORDS = 32
FEWEST_WORDS = 4

# What people and agents say before they act, so that imperatives are not foreign to vectors made from manuals.
FRAMES = (
    "{verb} {thing}",
    "{verb} {thing} {where}",
    "please {verb} {thing} {where}",
    "I'll {verb} {thing} now",
    "let me {verb} {thing} {where}",
    "can you {verb} {thing} for me?",
    "I am going to {verb} {thing} and start over",
    "we should {verb} {thing} before the release",
    "next step: {verb} {thing}",
    "go ahead and {verb} {thing} {where}",
    "how do I {verb} {thing} safely?",
    "it failed, so we {verb} {thing} {where}",
)
VERBS = (
    "delete,remove,drop,wipe,erase,purge,destroy,tear down,get rid of,clean up,truncate,empty,reset,overwrite,restore,"
    "back up,roll back,revert,deploy,ship,release,publish,unpublish,roll out,promote,push,force-push,pull,merge,rebase,"
    "squash,cherry-pick,check out,stash,discard,commit,tag,migrate,alter,rename,reindex,seed,import,export,copy,move,"
    "archive,rotate,revoke,expose,print,log,hard-code,encrypt,decrypt,share,store,upload,download,install,upgrade,"
    "downgrade,pin,uninstall,restart,stop,kill,shut down,scale up,scale down,drain,cordon,start,launch,provision,"
    "resize,detach,mount,unmount,format,partition,grant,deny,open up,lock down,disable,enable,skip,ignore,bypass,mute,"
    "test,debug,profile,review,document,refactor,rewrite,rerun,retry,schedule,monitor,verify,inspect,list,look up"
).split(",")
THINGS = (
    "the production database,the users table,the staging schema,all the rows,the old column,the foreign key,"
    "the last migration,the nightly backup,the snapshot,the replica,the primary node,the S3 bucket,the storage volume,"
    "the docker volumes,the images,the containers,the cluster,the namespace,the deployment,the pods,the load balancer,"
    "the DNS record,the certificate,the private key,the API token,the password,the .env file,the credentials,"
    "the service account,the firewall rule,the security group,the Terraform state,the stack,the virtual machine,"
    "the main branch,the feature branch,the remote,the git history,uncommitted changes,the working tree,the repository,"
    "the pull request,the tag,the lock file,node_modules,the build folder,the cache,the logs,the home directory,"
    "the config file,the crontab,the queue,the message broker,the website,the hosting project,the package,"
    "the dependency,the test suite,the failing test,the linter,the pre-commit hook,the CI pipeline,the feature flag,"
    "the web server,the reverse proxy,the session store,the search index,the data warehouse,the customer records,"
    "the invoices,the email list,the payment webhook,the disk,the partition,the swap file,the user account"
).split(",")
WHERE = (
    "in production,on staging,on the server,from the repository,on my laptop,in the cloud account,without a backup,"
    "right away,with a dry run first,after the freeze,for every tenant,on the shared branch,from the command line,"
    "in the CI job,tonight,by hand"
).split(",")


class _Blocks(HTMLParser):
    """Collect the text of a page, one block (paragraph, item, heading) at a time."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = [""]
        self._skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base class's
        if tag in SKIPPED:
            self._skipping += 1
        elif tag not in FLOWING:
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self._skipping = max(0, self._skipping - 1)
        elif tag not in FLOWING:
            self.blocks.append("")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.blocks[-1] += data


def package_of(name: str) -> tuple[str, str]:
    """Return package and version of a folder's name.

    Raises:
        ValueError: the name is not `package_version`, or the package's licence is not listed.
    """
    package, mark, version = name.partition("_")
    if not mark or package not in LICENCES:
        raise ValueError(f"{name}: wanted a folder package_version of {', '.join(sorted(LICENCES))}")
    return package, version


def sentences(folder: Path) -> list[str]:
    """Return the different sentences of a package in a fixed order."""
    found: dict[str, str] = {}
    for path in pages(folder):
        for block in blocks(path):
            for sentence in cut(block):
                found.setdefault(sentence.lower(), sentence)
    return list(found.values())


def pages(folder: Path) -> list[Path]:
    """Return some of the files of a package, from all over it."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return paths[:: len(paths) // MOST_PAGES + 1]


def blocks(path: Path) -> list[str]:
    """Return the paragraphs, items and headings of a file, or nothing of one of another kind."""
    if path.name in WORDNET:
        return list(_glosses(path.read_text("utf-8", "replace")))
    if path.name == DESCRIPTIONS:
        return _descriptions(path.read_text("utf-8", "replace"))
    if path.name.endswith(PAGES):
        parser = _Blocks()
        parser.feed(path.read_text("utf-8", "replace"))
        return parser.blocks
    if path.name.endswith(PLAIN):
        return re.split(r"\n\s*\n", path.read_text("utf-8", "replace"))
    if re.search(r"\.\d[a-z]*\.gz$", path.name):
        return _manual(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
    return []


def sections(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the headings of web pages, each with the text up to the next one."""
    for path in paths:
        if path.stat().st_size > MOST_BYTES:
            continue
        try:
            text = read(path.name, path.read_bytes()).text
        except DeiaError:
            continue
        _, *parts = HEADING.split(text)
        for heading, section in zip(parts[::2], parts[1::2], strict=True):
            yield NUMBERED.sub("", heading), section.strip()


def synsets(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the synonyms, the meaning, and the example sentences of every synset of WordNet."""
    for line in text.splitlines():
        head, mark, gloss = line.partition(" | ")
        fields = head.split(" ")
        if not mark or len(fields) < 6:
            continue
        names = [fields[4 + 2 * number].replace("_", " ") for number in range(int(fields[3], 16))]
        meaning, *examples = re.split(r'; "', gloss.strip())
        yield ", ".join(names), meaning, [example.rstrip('" ') for example in examples]


def _glosses(text: str) -> Iterator[str]:
    for names, meaning, examples in synsets(text):
        yield f"{names}: {meaning}"
        yield from examples


def descriptions(text: str) -> list[tuple[str, str]]:
    """Return the line that describes each package, and the paragraphs below it."""
    return re.findall(r"^Description-en: (.+)\n((?: .*\n)*)", text, re.MULTILINE)


def _descriptions(text: str) -> list[str]:
    """Return the line that describes each package, and the first paragraph below it."""
    return [part for line, rest in descriptions(text) for part in (line, " ".join(rest.split("\n .\n")[0].split()))]


def _manual(text: str) -> list[str]:
    """Return the paragraphs of a man page: without macros, font changes and escapes."""
    plain = re.sub(r"\\f(\[[^]]*\]|\(..|.)|\\[&|^/,%]|\\s[-+]?\d", "", text).replace("\\-", "-")
    plain = re.sub(r"\\\((..)|\\\*\(..|\\\[..\]", "'", plain)
    kept = [re.sub(r"^\.(B|I|BR|IR|RB|BI|RI|IB|Nm|Ar|Fl|Cm|Xr) ", "", line) for line in plain.splitlines()]
    joined = "\n".join("" if line.startswith((".", "'")) else line for line in kept)
    return re.split(r"\n\s*\n", joined)


def cut(block: str) -> Iterator[str]:
    """Cut a block at the ends of sentences; drop what is not English prose or too short."""
    for piece in re.split(r"(?<=[.!?:;])\s+(?=[A-Z\"'(])|\n\s*[-*o]\s+", block):
        words = piece.split()[:MOST_WORDS]
        text = " ".join(words)
        letters = sum(char.isascii() and (char.isalpha() or char == " ") for char in text)
        if len(words) >= FEWEST_WORDS and letters > 0.75 * len(text) and len(text) < 12 * MOST_WORDS:
            yield text


def spans(texts: list[str], count: int, chance: random.Random) -> list[str]:
    """Cut short runs of words out of longer sentences: what people type is shorter than what manuals say."""
    found = []
    for _ in range(count):
        words = chance.choice(texts).split()
        length = chance.randint(2, 8)
        start = chance.randrange(max(1, len(words) - length))
        found.append(" ".join(words[start : start + length]))
    return found


def common_words(texts_of: Mapping[str, list[str]], known: Collection[str], count: int) -> list[str]:
    """Return the words that most packages use, and most often, among those that the vocabulary has only in pieces."""
    used: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    for texts in texts_of.values():
        found = (word for text in texts for word in re.findall(r"[a-z]{3,18}", text.lower()))
        inside = Counter(word for word in found if word not in known)
        used.update({word: min(times, 200) for word, times in inside.items()})
        packages.update(inside.keys())
    common = [word for word in used if packages[word] >= 2 and used[word] >= 5]
    return sorted(sorted(common), key=lambda word: -used[word] * packages[word])[:count]


def said(count: int, chance: random.Random) -> list[str]:
    """Return sentences of the small grammar, as people and agents announce or request what they are about to do."""
    return [
        chance.choice(FRAMES).format(verb=chance.choice(VERBS), thing=chance.choice(THINGS), where=chance.choice(WHERE))
        for _ in range(count)
    ]


def mixtures(words: list[str], count: int, chance: random.Random) -> list[str]:
    """Return random handfuls of vocabulary, so that words that occur in no text get a weight, too."""
    return [" ".join(chance.sample(words, chance.randint(2, 5))) for _ in range(count)]
