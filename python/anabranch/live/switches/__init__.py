"""Live runs over real switches: bridges of Open vSwitch, and a controller of OpenFlow 1.3 beside them."""
