import { useSignal } from '@preact/signals'
import { messageOf } from '../app/api.ts'

/** Something that the service is asked to do: whether it runs, and what was said against it. */
export function useStep() {
  const isRunning = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  return {
    isRunning,
    problem,
    async run(work: () => Promise<void>): Promise<void> {
      if (isRunning.value) return
      isRunning.value = true
      problem.value = undefined
      try {
        await work()
      } catch (error) {
        problem.value = messageOf(error)
      } finally {
        isRunning.value = false
      }
    },
  }
}
