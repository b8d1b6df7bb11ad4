import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../app/api.ts'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { folderOfInput, takeDropped } from './chosen-folder.ts'
import { addFiles, addFolders } from './queue.ts'

/** The field that files are chosen with. */
export const CHOOSE_ID = 'choose-files'

/** The field that a folder is chosen with. */
export const CHOOSE_FOLDER_ID = 'choose-folder'
/** No standard has it, and neither have the types. */
const OF_FOLDERS = { webkitdirectory: true }
/** False where the browser has no dialog for folders, as on most phones. */
const canChooseFolders = 'webkitdirectory' in HTMLInputElement.prototype

/** Takes files and folders that are dropped anywhere on the page, chosen, or pasted. @param isBig - true while there is nothing else to see. */
export function DropTarget({ isBig }: { readonly isBig: boolean }) {
  const isOver = useSignal(false)
  const reading = useSignal(0)
  const problem = useSignal<string | undefined>(undefined)
  const input = useRef<HTMLInputElement>(null)
  const folderInput = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const take = async (data: DataTransfer | null) => {
      const { files, read } = takeDropped(data)
      problem.value = undefined
      addFiles(files)
      if (read === undefined) return
      reading.value += 1
      try {
        const dropped = await read()
        addFolders(dropped.folders)
        addFiles(dropped.files)
      } catch (error) {
        problem.value = messageOf(error)
      } finally {
        reading.value -= 1
      }
    }
    const stopListening = listenForFiles(
      (over) => {
        isOver.value = over
      },
      (data) => void take(data),
    )
    return stopListening
  }, [])
  const { target, targetOver, or, choose, chooseFolder, chooseHint, readingFolder, notRead } = texts.value.drop
  return (
    <section class={`drop ${isBig ? 'drop-big' : ''} ${isOver.value ? 'drop-over' : ''}`} aria-label={target}>
      <div class="drop-picture">
        <Icon name="upload" />
      </div>
      <div class="drop-words">
        <p class="drop-title">{isOver.value ? targetOver : target}</p>
        <p class="drop-hint" role="status">
          {reading.value > 0 ? readingFolder : chooseHint}
        </p>
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
        {canChooseFolders && (
          <>
            <button type="button" class="button button-plain" onClick={() => folderInput.current?.click()}>
              {chooseFolder}
            </button>
            <input
              ref={folderInput}
              id={CHOOSE_FOLDER_ID}
              class="hidden"
              type="file"
              {...OF_FOLDERS}
              tabIndex={-1}
              aria-label={chooseFolder}
              onChange={({ currentTarget }) => {
                const folder = folderOfInput([...(currentTarget.files ?? [])])
                if (folder !== undefined) addFolders([folder])
                currentTarget.value = ''
              }}
            />
          </>
        )}
      </p>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>
            {notRead} {problem.value}
          </p>
        </Notice>
      )}
    </section>
  )
}

/** Listens on the whole page, so that nobody who misses the target leaves the page. @returns what ends it. */
function listenForFiles(onOver: (isOver: boolean) => void, onData: (data: DataTransfer | null) => void): () => void {
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
    onData(event.dataTransfer)
  }
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData !== null && event.clipboardData.files.length > 0) onData(event.clipboardData)
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
