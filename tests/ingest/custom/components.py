"""Components for tests and measurements, written in the text format of WebAssembly: honest ones and hostile ones."""

from __future__ import annotations

TYPES = """
    (type $pair (tuple string string))
    (type $config_ (record (field "file-type" string) (field "max-chunk-size" u32) (field "preserve-context" bool)
      (field "custom-params" (list $pair))))
    (export $config "chunker-config" (type $config_))
    (type $chunk_ (record (field "id" string) (field "content" string) (field "metadata" (list $pair))
      (field "parent-id" (option string)) (field "children" (list string))))
    (export $chunk "chunk" (type $chunk_))
"""
ALLOCATE = """
      (global $top (mut i32) (i32.const 65536))
      (func $alloc (export "cabi_realloc")
        (param $old i32) (param $size i32) (param $align i32) (param $new i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
        (global.set $top (i32.add (local.get $at) (local.get $new)))
        (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))) (then
          (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (i32.sub (global.get $top)
            (i32.mul (memory.size) (i32.const 65536))) (i32.const 16)))))))
        (local.get $at))
      (func (export "analyze") (param $s i32) (param $sl i32) (param $t i32) (param $tl i32) (result i32)
        (i32.store (i32.const 1024) (local.get $t)) (i32.store (i32.const 1028) (local.get $tl))
        (i32.store (i32.const 1032) (i32.const 4000)) (i32.store (i32.const 1036) (i32.const 0))
        (i32.store (i32.const 1040) (i32.const 0)) (i32.store (i32.const 1044) (i32.const 0))
        (i32.const 1024))
"""
FUNCTIONS = {"offsets": ("chunk-offsets", "string"), "chunking": ("chunk-file", "(list $chunk)")}
LIFTED = '(memory (core memory $i "memory")) (realloc (core func $i "cabi_realloc"))'


def component(form: str, body: str, more: str = "", *, memory: int = 2, returned: str = "", imports: str = "") -> str:
    """Return a component of a form, whose function that cuts has this body; $c and $cl are the text and its length."""
    name, result = FUNCTIONS[form]
    return f"""(component
  {imports}
  (component $inner {TYPES}
    (core module $m (memory (export "memory") {memory}) {ALLOCATE} {more}
      (func (export "{name}") (param $c i32) (param $cl i32) (param $ft i32) (param $ftl i32) (param $max i32)
        (param $keep i32) (param $ps i32) (param $psl i32) (result i32) {body}))
    (core instance $i (instantiate $m))
    (func (export "analyze") (param "sample" string) (param "file-type" string) (result $config)
      (canon lift (core func $i "analyze") {LIFTED}))
    (func (export "{name}") (param "content" string) (param "config" $config) (result {returned or result})
      (canon lift (core func $i "{name}") {LIFTED})))
  (instance $x (instantiate $inner))
  (export "deia:chunker/{form}@1.0.0" (instance $x)))"""


def stored(*words: int | str) -> str:
    """Return instructions that write words behind each other from 2048 on, and return that place."""
    stores = (f"(i32.store offset={4 * at} (i32.const 2048) {_value(word)})" for at, word in enumerate(words))
    return " ".join((*stores, "(i32.const 2048)"))


def _value(word: int | str) -> str:
    return word if isinstance(word, str) else f"(i32.const {word})"


def saying(text: str) -> str:
    """Return a component that says the same of every text, in the form with offsets."""
    data = text.encode()
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    return component("offsets", stored(8192, len(data)), f'(data (i32.const 8192) "{escaped}")', memory=4)


# Cuts before each line that begins with #, in the form with offsets.
RECORDS = component(
    "offsets",
    """
        (local $at i32) (local $start i32) (local $out i32) (local $to i32)
        (local.set $out (call $alloc (i32.const 0) (i32.const 0) (i32.const 1)
          (i32.add (i32.mul (local.get $cl) (i32.const 2)) (i32.const 1024))))
        (i32.store8 (local.get $out) (i32.const 91))
        (local.set $to (i32.add (local.get $out) (i32.const 1)))
        (block $end (loop $next
          (br_if $end (i32.ge_u (local.get $at) (local.get $cl)))
          (if (i32.and (i32.eq (i32.load8_u (i32.add (local.get $c) (local.get $at))) (i32.const 10))
                       (i32.eq (i32.load8_u offset=1 (i32.add (local.get $c) (local.get $at))) (i32.const 35)))
            (then
              (local.set $to (call $row (local.get $to) (local.get $start) (i32.add (local.get $at) (i32.const 1))))
              (local.set $start (i32.add (local.get $at) (i32.const 1)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next)))
        (local.set $to (call $row (local.get $to) (local.get $start) (local.get $cl)))
        (i32.store8 (i32.sub (local.get $to) (i32.const 1)) (i32.const 93))
        (i32.store (i32.const 2048) (local.get $out))
        (i32.store (i32.const 2052) (i32.sub (local.get $to) (local.get $out)))
        (i32.const 2048)""",
    """
      (func $number (param $to i32) (param $n i32) (result i32)
        (local $size i32) (local $rest i32)
        (local.set $size (i32.const 1)) (local.set $rest (i32.div_u (local.get $n) (i32.const 10)))
        (block $done (loop $more
          (br_if $done (i32.eqz (local.get $rest)))
          (local.set $size (i32.add (local.get $size) (i32.const 1)))
          (local.set $rest (i32.div_u (local.get $rest) (i32.const 10)))
          (br $more)))
        (local.set $rest (i32.add (local.get $to) (local.get $size)))
        (loop $digit
          (local.set $rest (i32.sub (local.get $rest) (i32.const 1)))
          (i32.store8 (local.get $rest) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
          (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
          (br_if $digit (i32.gt_u (local.get $rest) (local.get $to))))
        (i32.add (local.get $to) (local.get $size)))
      (data (i32.const 3000) "{\\22start\\22:,\\22end\\22:},")
      (func $row (param $to i32) (param $start i32) (param $end i32) (result i32)
        (memory.copy (local.get $to) (i32.const 3000) (i32.const 9))
        (local.set $to (call $number (i32.add (local.get $to) (i32.const 9)) (local.get $start)))
        (memory.copy (local.get $to) (i32.const 3009) (i32.const 7))
        (local.set $to (call $number (i32.add (local.get $to) (i32.const 7)) (local.get $end)))
        (memory.copy (local.get $to) (i32.const 3016) (i32.const 2))
        (i32.add (local.get $to) (i32.const 2)))""",
)
# Two chunks in the form with records: "a", the first line of at most 8 bytes, and "b", the rest, whose parent is "a".
# A chunk is eleven words: id, content, metadata, whether it has a parent and which, children.
FAMILY = component(
    "chunking",
    stored(
        2056, 2,
        3000, 1, "(local.get $c)", 8, 3016, 1, 0, 0, 0, 3032, 1,
        3001, 1, "(i32.add (local.get $c) (i32.const 8))",
        "(i32.sub (local.get $cl) (i32.const 8))", 0, 0, 1, 3000, 1, 0, 0,
    ),
    '(data (i32.const 3000) "ab") (data (i32.const 3008) "kindpump")'
    ' (data (i32.const 3016) "\\c0\\0b\\00\\00\\04\\00\\00\\00\\c4\\0b\\00\\00\\04\\00\\00\\00")'
    ' (data (i32.const 3032) "\\b9\\0b\\00\\00\\01\\00\\00\\00")',
)  # fmt: skip
FOREVER = "(loop $again (br $again))"
GROW = "(drop (memory.grow (i32.const 3900)))"
ROW_OF_ONE = '(data (i32.const 8192) "{\\22start\\22:0,\\22end\\22:1},")'
# Why each is refused, in the words that a person reads.
HOSTILE = {
    "loop": (component("offsets", f"{FOREVER} (i32.const 0)"), "did not come to an end"),
    "endless start": (component("offsets", "(i32.const 0)", f"(func $s {FOREVER}) (start $s)"), "not come to an end"),
    "recursion": (component("offsets", "(call $r)", "(func $r (result i32) (drop (call $r)) (call $r))"), "too often"),
    "memory bomb": (
        component("offsets", f"(loop $l (drop (memory.grow (i32.const 100))) (br $l)) {stored(0, 0)}"),
        "not come to an end",
    ),
    "large memory": (component("offsets", stored(0, 0), memory=60_000), "too much memory"),
    "ten million records": (component("chunking", f"{GROW} {stored(131072, 10_000_000)}"), "outside its memory"),
    "a million records": (component("chunking", f"{GROW} {stored(131072, 1_000_000)}"), "returned too much|too long"),
    "many records": (component("chunking", f"{GROW} {stored(131072, 200_000)}"), "took too long"),
    "ten million offsets": (
        component(
            "offsets",
            f"""(local $k i32) {GROW}
            (i32.store8 (i32.const 131072) (i32.const 91)) (local.set $k (i32.const 131073))
            (loop $l (memory.copy (local.get $k) (i32.const 8192) (i32.const 20))
              (local.set $k (i32.add (local.get $k) (i32.const 20)))
              (br_if $l (i32.lt_u (local.get $k) (i32.const 200131072))))
            (i32.store8 (i32.sub (local.get $k) (i32.const 1)) (i32.const 93)) {stored(131072, 200000000)}""",
            ROW_OF_ONE,
        ),
        "returned|too long|not come to an end",
    ),
    "outside its memory": (component("offsets", stored(-10, 100)), "outside its memory"),
    "no text": (component("offsets", stored(8192, 1), '(data (i32.const 8192) "\\ff")'), "not UTF-8"),
    "trap": (component("offsets", "unreachable"), "error of its own"),
    "other types": (component("offsets", stored(0, 0), returned="(list u8)"), "other types"),
    "no chunk": (saying("[]"), "no chunk"),
    "no JSON": (saying("chunks"), "no JSON"),
    "deep JSON": (saying("[" * 50_000), "no JSON"),
    "long number": (saying('[{"start": 0, "end": ' + "9" * 5000 + "}]"), "no JSON"),
    "no list": (saying("{}"), "no list"),
    "beyond the end": (saying('[{"start": 0, "end": 99999}]'), "from 0 to 99999, but the text has"),
    "before the beginning": (saying('[{"start": -1, "end": 3}]'), "from -1 to 3"),
    "backwards": (saying('[{"start": 3, "end": 1}]'), "from 3 to 1"),
    "part of a number": (saying('[{"start": 0.5, "end": 3}]'), "whole numbers"),
    "inside a character": (saying('[{"start": 0, "end": 1}]'), "inside a character"),
    "one id twice": (saying('[{"end": 2, "id": "a"}, {"start": 2, "end": 4, "id": "a"}]'), "two chunks have the id"),
    "orphan": (saying('[{"end": 2, "parent": "b"}]'), "no chunk before it has the id 'b'"),
    "circle": (
        saying('[{"end": 2, "id": "a", "parent": "b"}, {"end": 2, "id": "b", "parent": "a"}]'),
        "has the id 'b'",
    ),
    "endless id": (saying('[{"end": 2, "id": "' + "a" * 9000 + '"}]'), "too long"),
    "half a character": (saying('[{"end": 2, "id": "\\ud800"}]'), "no Unicode"),
    "endless metadata": (saying('[{"end": 2, "metadata": {"a": "' + "a" * 9000 + '"}}]'), "too long"),
}
