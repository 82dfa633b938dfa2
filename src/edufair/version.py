"""The version, which every plan and report names."""

VERSION = "0.1.0"
