"""Compare what real instrumentations send with the HTTP traffic that they watched."""
