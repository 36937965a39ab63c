"""The goldens' form (members sorted, one a line; files of many answers in sections), and what differs between two.

A difference is (what, where, old, new); what is one of "gone", "changed", "new", "order". where is a path of members
with dots between; elements of a list that have a name go by it, so that a list may grow.
"""
import csv
import fnmatch
import hashlib
import io
import json
import re

FAMILY = re.compile(
    r"GET /api/v1/(runs|trend|compare|jobs)(?:/\d+)?(/[a-z]+|\.csv|)(?:\?.*)?|\$ (roofline-\w+) .*--json.*|(IMPORT) .*"
)  # answers that are much alike
LONG = 12  # numbers in a list that is written as its hash
NAMES = (
    ("id",),
    ("kernel", "state", "sizes"),
    ("kernel", "state"),
    ("kernel",),
    ("name", "state"),
    ("name",),
    ("unit", "state"),
    ("field",),
    ("run",),
    ("day",),
    ("code",),
)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shortened(value):
    """With long lists of numbers as their hash: times of launches are many, and are only right all together."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > LONG and all(number(one) for one in value):
        text = " ".join(repr(float(one)) for one in value)
        return "%d numbers from %r to %r, SHA-256 %s" % (
            len(value),
            value[0],
            value[-1],
            hashlib.sha256(text.encode()).hexdigest(),
        )
    return [shortened(one) for one in value]


def written(value, indent=0):
    """JSON with members sorted and one a line; lists of plain values in one line."""
    space = " " * (indent + 1)
    if isinstance(value, dict) and value:
        lines = [
            "%s%s: %s" % (space, json.dumps(name, ensure_ascii=False), written(value[name], indent + 1))
            for name in sorted(value)
        ]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    if isinstance(value, list) and any(isinstance(one, (dict, list)) and one for one in value):
        return "[\n" + ",\n".join(space + written(one, indent + 1) for one in value) + "\n" + " " * indent + "]"
    return json.dumps(value, ensure_ascii=False)


def table_of(text):
    """A CSV as rows by column, so that a new column is a new member and not another line."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


# ---- what differs ----


def names_of(old, new):
    """Both lists' elements by name, where every element has one of its own; else None."""
    for names in NAMES:
        if all(isinstance(one, dict) and all(isinstance(one.get(name), str) for name in names) for one in old + new):
            keys = [[".".join(one[name] for name in names) for one in side] for side in (old, new)]
            if all(len(set(side)) == len(side) for side in keys):
                return dict(zip(keys[0], old)), dict(zip(keys[1], new))
    return None


def differences(old, new, where=""):
    """All of them, and with what "same" each plain value that is the same."""
    if isinstance(old, list) and isinstance(new, list):
        named = names_of(old, new) if old and new else None
        if named:
            kept = [name for name in named[1] if name in named[0]]
            if kept != [name for name in named[0] if name in named[1]]:
                yield "order", where, list(named[0]), list(named[1])
            old, new = named
        else:
            old, new = ({str(at): one for at, one in enumerate(side)} for side in (old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        if not old and not new:
            yield "same", where, old, new
        for name, member in old.items():
            path = where + "." + name if where else name
            if name in new:
                yield from differences(member, new[name], path)
            else:
                yield "gone", path, member, None
        for name in new:
            if name not in old:
                yield "new", where + "." + name if where else name, None, new[name]
    elif isinstance(old, bool) == isinstance(new, bool) and type(old) in (int, float) and type(new) in (int, float):
        yield "same" if old == new else "changed", where, old, new
    else:
        yield "same" if type(old) is type(new) and old == new else "changed", where, old, new


def patched(base, value):
    """What a document says otherwise than another: {} when it is the same."""
    found = {}
    for what, where, old, new in differences(base, value):
        if what != "same":
            found.setdefault(what, {})[where] = shortened(old if what == "gone" else new)
    return found


class Allowed:
    """new_members.txt: which members may be new. Lines REQUEST | MEMBER | WHY, * standing for any characters."""

    def __init__(self, path):
        self.patterns = []
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                parts = [part.strip() for part in line.split(" | ")]
                if len(parts) != 3 or not all(parts):
                    raise SystemExit("%s, line %d: REQUEST | MEMBER | WHY is wanted" % (path, at))
                self.patterns.append((at, parts[0], parts[1]))
        self.used = set()

    def takes(self, request, where):
        found = [
            at
            for at, of, member in self.patterns
            if fnmatch.fnmatchcase(request, of) and fnmatch.fnmatchcase(where, member)
        ]
        self.used.update(found)
        return bool(found)


# ---- files of answers ----

MARK = "### "


def sections(text):
    """{request: (head, body)} of a file."""
    found = {}
    for part in ("\n" + text).split("\n" + MARK)[1:]:
        request, head, body = (part.rstrip("\n") + "\n\n").split("\n", 2)
        found[request] = (head, body.rstrip("\n"))
    return found


def joined(answers):
    """The file of them."""
    for request, (head, body) in answers.items():
        if any(("\n" + text).find("\n" + MARK) >= 0 for text in (request, head, body)) or "\n" in request + head:
            raise ValueError("a golden cannot hold this answer: " + request)
    return "".join(
        "%s%s\n%s\n%s\n\n" % (MARK, request, head, body.rstrip("\n")) for request, (head, body) in answers.items()
    )


def value_of(head, body):
    """What is compared of an answer."""
    if head.startswith("beside"):
        return {"changed": {}, "gone": {}, "new": {}, "order": {}, **json.loads(body)}
    if "json" in head:
        return json.loads(body)
    if "text/csv" in head:
        return table_of(body)
    return body.split("\n")


def beside(first, second):
    """The second (head, body) as what it says otherwise than the first."""
    if second[0].partition(",")[0] != first[0].partition(",")[0]:
        return second
    return "beside: " + second[0], written(patched(value_of(*first), value_of(*second)))


def thinned(answers):
    """With each answer that is nearly one before it written beside that: runs have most of their members in common."""
    firsts, made = {}, {}
    for request, answer in answers.items():
        kind = FAMILY.fullmatch(request)
        if not kind:
            made[request] = answer
            continue
        family = firsts.setdefault(kind.groups(), {})
        near = min(
            (
                (len(body), name, head, body)
                for name, (head, body) in ((name, beside(first, answer)) for name, first in family.items())
                if head != answer[0]
            ),
            default=(len(answer[1]),),
        )
        if len(near) > 1 and near[0] < 0.7 * len(answer[1]):
            made["BESIDE %s || %s" % (near[1], request)] = near[2:]
        else:
            family[request] = made[request] = answer
    return made


def compare(golden, answer):
    """The differences of two (head, body)."""
    if golden[0] != answer[0]:
        yield "changed", "(status and type)", golden[0], answer[0]
        yield "changed", "(body)", golden[1][:2000], answer[1][:2000]
    else:
        yield from differences(value_of(*golden), value_of(*answer))
