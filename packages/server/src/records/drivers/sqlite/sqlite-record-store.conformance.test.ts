import { describeRecordStore } from '../../conformance.ts'
import { sqliteSubject } from './testing-record-store-subject.ts'

describeRecordStore('sqlite', sqliteSubject())
