"""Mirror the packages; e2e/ runs the whole process."""
