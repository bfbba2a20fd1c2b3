"""Pictures of figures."""

from html import escape

ROOM, WIDTH, HEIGHT = 400, 380, 22


def bars(title: str, values: dict[str, float], mark: float | None = None) -> str:
    """A picture (SVG) with a bar for each value, and a line at `mark`."""
    most = max([*values.values(), mark or 0])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{ROOM + WIDTH + 90}" height="{HEIGHT * (len(values) + 2)}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="8" y="{HEIGHT - 6}" font-weight="bold">{escape(title)}</text>',
    ]
    for at, (name, value) in enumerate(values.items(), 1):
        top, length = at * HEIGHT + 6, value / most * WIDTH
        color = "#3b6ea5" if mark is None or value <= mark else "#b5523b"
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
        lines += [
            f'<text x="{ROOM - 8}" y="{top + 11}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{ROOM}" y="{top}" width="{length:.1f}" height="{HEIGHT - 8}" fill="{color}"/>',
            f'<text x="{ROOM + length + 6:.1f}" y="{top + 11}">{shown}</text>',
        ]
    if mark is not None:
        place = ROOM + mark / most * WIDTH
        lines.append(f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{HEIGHT}" y2="{HEIGHT * (len(values) + 1) + 8}" stroke="black"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"
