"""docs/flight.md's Python session gives what it says. SKEP_FLIGHT: the service, with an empty table `emp`."""
import doctest
import os
import sys
from pathlib import Path

page = Path(__file__).parents[3] / "docs/flight.md"
text = page.read_text().replace("127.0.0.1:9084", os.environ["SKEP_FLIGHT"])
test = doctest.DocTestParser().get_doctest(text, {}, "flight.md", str(page), 0)
options = doctest.ELLIPSIS
failed, tried = doctest.DocTestRunner(optionflags=options).run(test)
print(f"{tried - failed} passed, {failed} failed")
sys.exit(failed > 0)
