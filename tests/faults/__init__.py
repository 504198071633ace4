"""Break everything around an instance, and hold that nothing acknowledged is lost or doubled."""
