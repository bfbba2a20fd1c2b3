"""A browser whose user allows everything."""

import re
from urllib.parse import urljoin

import httpx2


async def browse(url: str, until: str | None = None) -> str:
    """Follows redirects and the forms of consent pages; where that ends, or the address that begins with `until`, which is not opened."""
    cookies = {}
    async with httpx2.AsyncClient() as http:
        page = await http.get(url)
        for _ in range(20):
            for field in page.headers.get_list("set-cookie"):
                name, _, value = field.partition(";")[0].partition("=")
                cookies[name] = value
            fields = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
            if location := page.headers.get("location"):
                url = urljoin(url, location)
                if until and url.startswith(until):
                    return url
                page = await http.get(url, headers=fields)
            elif form := re.search('name="request" value="([^"]*)"', page.text):
                action = re.search('action="([^"]*)"', page.text)[1]
                page = await http.post(action, data={"request": form[1], "decision": "allow"}, headers=fields)
            else:
                assert page.status_code == 200, f"{page.status_code} {page.text}"
                return url
    raise RuntimeError(f"no end at {url}")
