import { describe, test } from 'vitest'
import { seededRandom } from '../../conformance/seeded-bytes.ts'
import { BLOB_STORE_CASES, describeBlobStore, runCase } from '../../conformance.ts'
import { onFakeS3 } from './testing-subject.ts'

describeBlobStore(
  's3, on a store of few words',
  onFakeS3({ conditionalPuts: 'no', checksums: 'no', etagOfComplete: 'empty' }),
)

describe('blob store: s3, on a store that is busy and whose ETags say nothing', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const subject = onFakeS3({
    etags: 'opaque',
    conditionalPuts: 'ignored',
    checksums: 'ignored',
    store: { retry: { tries: 8 } },
    prepare({ faults }) {
      faults.random = seededRandom(seed)
      faults.slowDownRate = 0.05
    },
  })
  // Cases that break the medium on purpose expect one failure to be enough.
  for (const item of BLOB_STORE_CASES.filter(({ needs = [] }) => !needs.includes('breakNext'))) {
    test(`${item.title} [seed ${seed}]`, () => runCase(item, subject))
  }
})
