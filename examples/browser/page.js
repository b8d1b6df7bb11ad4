import { createLadeClient, LadeError } from './lade-client.js'

const ids = ['service', 'url', 'token', 'choose', 'drop', 'news', 'files']
const [form, url, token, choose, drop, news, list] = ids.map((id) => document.getElementById(id))

/** Files go one after the other; one that failed can be put in again. */
const waiting = []
let current

form.addEventListener('submit', (event) => event.preventDefault())
choose.addEventListener('change', () => {
  take([...choose.files])
  // So that the same file can be chosen again.
  choose.value = ''
})

// On the whole window: a file dropped beside its target would take the place of the page.
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    drop.classList.toggle('over', type === 'dragenter' || type === 'dragover')
    if (type === 'drop') take(filesIn(event.dataTransfer))
  })
}

addEventListener('beforeunload', (event) => {
  if (current !== undefined) event.preventDefault()
})

function filesIn({ items }) {
  const files = [...items].filter(({ kind }) => kind === 'file')
  return files.filter((item) => !item.webkitGetAsEntry?.()?.isDirectory).map((item) => item.getAsFile())
}

function take(files) {
  if (files.length === 0) return say('There is no file in that. Of a folder, drop the files in it.')
  if (!form.reportValidity()) return say('Nothing is staged: correct the address of the service first.')
  for (const file of files) enqueue({ file, row: addRow(file) })
}

function enqueue({ file, row }) {
  const job = { file, row, canceller: new AbortController() }
  row.showWaiting(() => cancel(job))
  waiting.push(job)
  if (current === undefined) work()
}

function cancel(job) {
  if (job === current) return job.canceller.abort()
  waiting.splice(waiting.indexOf(job), 1)
  fail(job, 'Cancelled.')
}

async function work() {
  for (current = waiting.shift(); current !== undefined; current = waiting.shift()) await stage(current)
}

async function stage(job) {
  const { file, row, canceller } = job
  try {
    // With what the fields say now, so that a token can be corrected before a file is tried again.
    const client = createLadeClient({ url: url.value, token: token.value.trim() || undefined })
    row.showStaged(await client.put(file, { signal: canceller.signal, onProgress: row.showProgress }))
    say(`${file.name} is staged.`)
  } catch (error) {
    fail(job, canceller.signal.aborted ? 'Cancelled.' : describe(error))
  }
}

function fail({ file, row }, reason) {
  row.showFailed(reason, () => enqueue({ file, row }))
  say(`${file.name} is not staged. ${reason}`)
}

/** Shows what happened last, and has it read out. */
function say(text) {
  news.textContent = waiting.length === 0 ? text : `${text} ${waiting.length} to go.`
}

/** What to do about an error, where its own sentence does not say. */
const ADVICE = {
  unreachable: () => 'Is the address right, and does the service run?',
  invalid_token: () => 'Correct it, or leave it out.',
  revoked_token: () => 'Use another one, or leave it out.',
  insufficient_scope: ({ required }) => `It needs the scope ${required}.`,
  too_large: ({ size, limit }) => `It has ${inBytes(size)}, and ${inBytes(limit)} is the most.`,
  quota_exceeded: ({ used, limit, unit }) =>
    unit === 'files' ? '' : `${inBytes(used)} of ${inBytes(limit)} are used today.`,
}

function describe(error) {
  if (!LadeError.is(error)) return error.message
  return [error.message, ADVICE[error.code]?.(error.evidence)].filter(Boolean).join(' ')
}

/** Adds a file to the list. A name may hold anything, so it is only ever set as text. */
function addRow({ name, size }) {
  const row = document.getElementById('file').content.firstElementChild.cloneNode(true)
  const [act, progress, state, facts] = ['.act', 'progress', '.state', 'dl'].map((part) => row.querySelector(part))
  const [cidText, link, until] = ['.cid', '.link', '.until'].map((part) => row.querySelector(part))
  row.querySelector('.name').textContent = name
  row.querySelector('.size').textContent = inBytes(size)
  progress.ariaLabel = `Progress of ${name}`
  list.append(row)

  /** One button for what can be done in turn, so that the focus stays where it is. */
  function show(what, words, verb, onAct) {
    row.dataset.state = what
    state.textContent = words
    act.textContent = verb
    act.ariaLabel = `${verb}: ${name}`
    act.onclick = onAct
    progress.hidden = what !== 'waiting'
  }
  async function copyCid() {
    getSelection().selectAllChildren(cidText)
    try {
      await navigator.clipboard.writeText(cidText.textContent)
      state.textContent = 'Staged, cid copied'
    } catch {
      // Only pages on https and loopback have a clipboard, and users may refuse it: the cid is selected at least.
      state.textContent = 'Staged, cid selected'
    }
  }
  return {
    showWaiting(onCancel) {
      progress.value = 0
      show('waiting', 'Waiting', 'Cancel', onCancel)
    },
    showProgress({ phase, hashedBytes, sentBytes }) {
      row.dataset.state = phase
      progress.value = (hashedBytes + sentBytes) / (2 * size)
      if (phase === 'hashing') state.textContent = `Hashing, ${inBytes(hashedBytes)} of ${inBytes(size)}`
      else if (phase === 'sending') state.textContent = `Sending, ${inBytes(sentBytes)} of ${inBytes(size)}`
      else state.textContent = 'Waiting for the service'
    },
    showStaged({ cid, retrievalUrl, term, expiresAt }) {
      cidText.textContent = cid
      link.textContent = retrievalUrl
      link.href = retrievalUrl
      until.textContent = `${new Date(expiresAt).toLocaleDateString()} (${term})`
      facts.hidden = false
      show('staged', 'Staged', 'Copy cid', copyCid)
    },
    showFailed: (reason, onRetry) => show('failed', `Not staged. ${reason}`, 'Try again', onRetry),
  }
}

function inBytes(bytes) {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  return `${power > 0 && amount < 100 ? amount.toFixed(1) : Math.round(amount)} ${['B', 'KiB', 'MiB', 'GiB'][power]}`
}
