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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

LICENCES = {  # of the documentation, as the package's `copyright` file has it
    "apache2-doc": "Apache-2.0",
    "borgbackup-doc": "BSD-3-Clause",
    "cargo-doc": "MIT OR Apache-2.0",
    "docker-doc": "Apache-2.0",
    "docker.io": "Apache-2.0",
    "gh": "MIT",
    "git-doc": "GPL-2.0-only",
    "git-lfs": "MIT",
    "kubernetes-client": "Apache-2.0",
    "npm": "Artistic-2.0",
    "openssh-client": "BSD-2-Clause and similar",
    "openssl": "Apache-2.0",
    "pgbackrest-doc": "MIT",
    "podman": "Apache-2.0",
    "postgresql-doc-15": "PostgreSQL",
    "python-django-doc": "BSD-3-Clause",
    "python-sqlalchemy-doc": "MIT",
    "python3.11-doc": "PSF-2.0",
    "rclone": "MIT",
    "restic": "BSD-2-Clause",
    "sqlite3-doc": "blessing (public domain)",
    "subversion": "Apache-2.0",
    "sudo": "ISC",
    "wordnet-base": "WordNet 3.0",
}
PAGES = (".html", ".html.en", ".xhtml")
PLAIN = (".md", ".txt", ".rst")
WORDNET = ("data.noun", "data.verb", "data.adj", "data.adv")
SKIPPED = {"script", "style", "nav", "footer", "title", "sup"}
FLOWING = {"a", "b", "code", "em", "i", "kbd", "span", "strong", "tt", "var", "cite", "abbr", "samp", "q", "u", "small"}
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
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            for block in _blocks(path):
                for sentence in _cut(block):
                    found.setdefault(sentence.lower(), sentence)
    return list(found.values())


def _blocks(path: Path) -> list[str]:
    if path.name in WORDNET:
        return list(_glosses(path.read_text("utf-8", "replace")))
    if path.name.endswith(PAGES):
        parser = _Blocks()
        parser.feed(path.read_text("utf-8", "replace"))
        return parser.blocks
    if path.name.endswith(PLAIN):
        return re.split(r"\n\s*\n", path.read_text("utf-8", "replace"))
    if re.search(r"\.\d[a-z]*\.gz$", path.name):
        return _manual(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
    return []


def _glosses(text: str) -> Iterator[str]:
    """Yield `synonyms: meaning` of every synset, and its example sentences."""
    for line in text.splitlines():
        head, mark, gloss = line.partition(" | ")
        fields = head.split(" ")
        if not mark or len(fields) < 6:
            continue
        names = [fields[4 + 2 * number].replace("_", " ") for number in range(int(fields[3], 16))]
        meaning, *examples = re.split(r'; "', gloss.strip())
        yield f"{', '.join(names)}: {meaning}"
        yield from (example.rstrip('" ') for example in examples)


def _manual(text: str) -> list[str]:
    """Return the paragraphs of a man page: without macros, font changes and escapes."""
    plain = re.sub(r"\\f(\[[^]]*\]|\(..|.)|\\[&|^/,%]|\\s[-+]?\d", "", text).replace("\\-", "-")
    plain = re.sub(r"\\\((..)|\\\*\(..|\\\[..\]", "'", plain)
    kept = [re.sub(r"^\.(B|I|BR|IR|RB|BI|RI|IB|Nm|Ar|Fl|Cm|Xr) ", "", line) for line in plain.splitlines()]
    joined = "\n".join("" if line.startswith((".", "'")) else line for line in kept)
    return re.split(r"\n\s*\n", joined)


def _cut(block: str) -> Iterator[str]:
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
