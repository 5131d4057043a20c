package column

import "syscall"

// release is advice: nothing depends on its being taken.
func release(data []byte) { _ = syscall.Madvise(data, syscall.MADV_DONTNEED) }
