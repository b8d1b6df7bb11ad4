import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { addFiles } from './queue.ts'

/** The field that files are chosen with. */
export const CHOOSE_ID = 'choose-files'

/** Takes files that are dropped anywhere on the page, chosen, or pasted. @param isBig - true while there is nothing else to see. */
export function DropTarget({ isBig }: { readonly isBig: boolean }) {
  const isOver = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const stopListening = listenForFiles((over) => {
      isOver.value = over
    })
    return stopListening
  }, [])
  const { target, targetOver, or, choose, chooseHint } = texts.value.drop
  return (
    <section class={`drop ${isBig ? 'drop-big' : ''} ${isOver.value ? 'drop-over' : ''}`} aria-label={target}>
      <div class="drop-picture">
        <Icon name="upload" />
      </div>
      <div class="drop-words">
        <p class="drop-title">{isOver.value ? targetOver : target}</p>
        <p class="drop-hint">{chooseHint}</p>
      </div>
      <p class="drop-choice">
        <span class="drop-or">{or}</span>
        <button type="button" class="button button-primary" onClick={() => input.current?.click()}>
          {choose}
        </button>
        <input
          ref={input}
          id={CHOOSE_ID}
          class="hidden"
          type="file"
          multiple
          tabIndex={-1}
          aria-label={choose}
          onChange={({ currentTarget }) => {
            addFiles([...(currentTarget.files ?? [])])
            currentTarget.value = ''
          }}
        />
      </p>
    </section>
  )
}

/** Listens on the whole page, so that nobody who misses the target leaves the page. @returns what ends it. */
function listenForFiles(onOver: (isOver: boolean) => void): () => void {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true
  const over = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    onOver(true)
  }
  const leave = (event: DragEvent) => {
    // Without a related target the pointer has left the window.
    if (event.relatedTarget === null) onOver(false)
  }
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    onOver(false)
    addFiles(filesOf(event.dataTransfer))
  }
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData !== null && event.clipboardData.files.length > 0) addFiles([...event.clipboardData.files])
  }
  addEventListener('dragover', over)
  addEventListener('dragleave', leave)
  addEventListener('drop', drop)
  addEventListener('paste', paste)
  return () => {
    removeEventListener('dragover', over)
    removeEventListener('dragleave', leave)
    removeEventListener('drop', drop)
    removeEventListener('paste', paste)
  }
}

/** The files of a drop. A folder looks like a file that cannot be read, so folders are left out. */
function filesOf(data: DataTransfer | null): File[] {
  if (data === null) return []
  const items = [...data.items]
  if (items.length === 0) return [...data.files]
  return items.flatMap((item) => {
    if (item.kind !== 'file' || item.webkitGetAsEntry()?.isDirectory) return []
    return item.getAsFile() ?? []
  })
}
