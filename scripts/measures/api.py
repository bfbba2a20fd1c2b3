"""Public names of a library, from rustdoc's JSON."""


# The words of Rust for the kinds of items.
WORDS = {"function": "fn", "module": "mod", "struct_field": "field", "constant": "const", "type_alias": "type", "assoc_const": "const", "assoc_type": "type"}


def names(document):
    """A line for each public name: its kind, and the path that a user writes. Signatures are left out; the tests compile them."""
    index = document["index"]
    lines = set()

    def visit(path, item, seen):
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            target = index.get(str(inner["id"]))
            if inner["is_glob"]:
                for child in children(target) if target else []:
                    visit(path[:-1] + (child["name"] or "",), child, seen)
            elif target is None:
                lines.add(f"use {'::'.join(path)} = {inner['source']}")
            elif inner["id"] not in seen:
                visit(path, target, seen | {inner["id"]})
            return
        lines.add(f"{WORDS.get(kind, kind)} {'::'.join(path)}")
        for child in children(item):
            name = child["name"]
            if next(iter(child["inner"])) == "use":
                name = child["inner"]["use"]["name"]
            visit((*path, name), child, seen)

    def children(item):
        """The public items inside of one: of a module, a type with its own methods, or a trait."""
        kind, inner = next(iter(item["inner"].items()))
        ids = list(inner.get("items", [])) if kind in ("module", "trait") else []
        if kind == "enum":
            ids += inner["variants"]
        if kind == "struct" and "plain" in (inner["kind"] if isinstance(inner["kind"], dict) else {}):
            ids += inner["kind"]["plain"]["fields"]
        if kind in ("struct", "enum", "union"):
            impls = [index[str(impl)]["inner"]["impl"] for impl in inner["impls"] if str(impl) in index]
            ids += [one for impl in impls if impl["trait"] is None for one in impl["items"]]
        found = [index[str(one)] for one in ids if str(one) in index]
        inherited = kind in ("trait", "enum")
        return [one for one in found if one["visibility"] == "public" or inherited]

    root = index[str(document["root"])]
    visit((root["name"],), root, frozenset())
    # A method and a field may have one path.
    return sorted(lines, key=lambda line: line.split(" ", 1)[::-1])
