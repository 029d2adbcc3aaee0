"""How hypothesis searches: TSR_EXAMPLES examples for each test (25), the same every time unless TSR_SEED is
set; --hypothesis-seed says which then."""
import os

from hypothesis import HealthCheck, settings

settings.register_profile("tessera", max_examples=int(os.environ.get("TSR_EXAMPLES", "25")), deadline=None,
                          derandomize="TSR_SEED" not in os.environ, suppress_health_check=list(HealthCheck))
settings.load_profile("tessera")
