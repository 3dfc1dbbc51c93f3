"""The texts of errors and findings. These modules are imported only when there is something to report."""
