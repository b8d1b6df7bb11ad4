import { describeRecordStore } from '../../conformance.ts'
import { watchServing } from '../../testing-watched-serving.ts'
import { sqliteSubject } from './testing-record-store-subject.ts'

describeRecordStore('sqlite, whose generation is watched', sqliteSubject(watchServing))
