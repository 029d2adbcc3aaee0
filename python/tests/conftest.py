"""How hypothesis searches: the same examples every time, TSR_EXAMPLES of them for each test (25)."""
import os

from hypothesis import HealthCheck, settings

settings.register_profile("tessera", max_examples=int(os.environ.get("TSR_EXAMPLES", "25")), deadline=None,
                          derandomize=True, suppress_health_check=list(HealthCheck))
settings.load_profile("tessera")
