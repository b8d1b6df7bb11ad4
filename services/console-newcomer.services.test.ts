import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type MailServer, openMailServer } from '@lade/server/testing/mail-server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, startChromium, type View } from './chromium.ts'
import { checkLooks } from './console-looks.ts'
import { consolePage } from './console-page.ts'
import type { Hands } from './hands.ts'
import { keyboardHands } from './keyboard-hands.ts'
import { type Lade, startLade } from './lade.ts'
import { walk } from './newcomer-walk.ts'
import { pointerHands } from './pointer-hands.ts'
import { watchUploads } from './sent-uploads.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const MIB = 1_048_576
const SIZES = { filmBytes: 90 * MIB, reelBytes: 300 * MIB }

describeScenario(
  {
    id: 'console-newcomer',
    name: 'a newcomer in the console',
    needs: [program('chromium', 'chromium'), program('curl', 'curl')],
  },
  () => {
    let home: TempHome
    let inbox: MailServer
    let service: Lade
    let chromium: Chromium

    beforeEach(async () => {
      home = openTempHome('console-newcomer')
      inbox = await openMailServer()
      // Limits and quotas are the defaults. Set are what the codes are mailed by, where the service is, and that a disk may be almost full.
      const place = { LADE_PORT: '0', LADE_DATA_DIR: join(home.path, 'data'), LADE_MIN_FREE_MB: '0' }
      service = await startLade({ ...place, LADE_LOG_LEVEL: 'warn', ...inbox.settings })
      chromium = await startChromium(pathOf('chromium') ?? '')
    })
    afterEach(async () => {
      await chromium.close()
      // It stands still where a walk ended in the middle of an upload.
      service.signal('SIGCONT')
      await service.stop()
      await inbox.close()
      home.discard()
    })

    async function walkWith(name: string, view: View, handsOf: (page: Parameters<typeof pointerHands>[0]) => Hands) {
      const page = await chromium.newPage()
      const console_ = consolePage(page)
      const hands = handsOf(page)
      await page.look(view)
      const folder = join(home.path, 'files')
      mkdirSync(folder)
      let steps = 0
      const film = async (step: string, subject?: string) => {
        steps += 1
        await hands.rest(step)
        const looks = { after: view, ...(subject !== undefined && { subject }) }
        await checkLooks(page, console_, `${name}-${String(steps).padStart(2, '0')}-${step}`, looks)
      }
      const sent = await watchUploads(page)
      const figures = await walk({ page, console_, hands, service, inbox, folder, sent, sizes: SIZES, film })
      console.log(`${name}: ${figures.arrivedParts} parts had arrived before, ${figures.sentAgain} were sent again`)
      expect(figures.sentAgain).toBe(0)
    }

    test('goes the whole way with a pointer', () =>
      walkWith('pointer', { width: 1440, height: 900, scheme: 'light' }, pointerHands))

    // Narrow, where bars at the top and at the bottom might cover what has the focus.
    test('goes the whole way without a mouse', () =>
      walkWith('keyboard', { width: 820, height: 900, scheme: 'light' }, keyboardHands))
  },
)
