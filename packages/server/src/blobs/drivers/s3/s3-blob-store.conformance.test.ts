import { describeBlobStore } from '../../conformance.ts'
import { onFakeS3 } from './testing-subject.ts'

describeBlobStore('s3', onFakeS3())
