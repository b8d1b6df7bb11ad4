import { describeBlobStore } from '../../conformance.ts'
import { onTempDir } from './testing-subject.ts'

describeBlobStore('fs', onTempDir())
describeBlobStore('fs, on a kernel that moves few bytes per call', onTempDir({ mostBytesPerCall: 40_001 }))
