"""The pages people look at: templates, languages, themes. Values come from the API, not from here.

`init_pages(app)` adds the page routes, the two catalogues and the error pages to an application.
Pages hold no figures of their own: each loads them through the same doors as everybody else, so
a page can't leak what the API would refuse.
"""

from studio.web.pages.catalogue import LANGUAGES, messages
from studio.web.pages.setup import init_pages

__all__ = ["LANGUAGES", "init_pages", "messages"]
