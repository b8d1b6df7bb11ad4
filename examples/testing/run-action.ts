import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Outcome, runProgram } from './run-program.ts'

export interface ActionRun extends Outcome {
  /** The outputs that a workflow reads as `steps.<id>.outputs.<name>`. */
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
}

/** A folder of an action, its inputs in a workflow's `with`, and where the job is. */
export interface ActionOptions {
  readonly action: string
  readonly inputs: Readonly<Record<string, string>>
  readonly workspace: string
  readonly temp: string
  readonly path: string
}

/**
 * Runs the one step of a composite action as GitHub's runner does: the line of `run` by bash, with the step's `env`, in
 * which `${{ inputs.… }}` is what the workflow gives or the default.
 */
export async function runAction({ action, inputs, workspace, temp, path }: ActionOptions): Promise<ActionRun> {
  const about = await readAction(action)
  const env = Object.fromEntries(
    Object.entries(about.env).map(([name, input]) => [name, inputs[input] ?? about.defaults[input] ?? '']),
  )
  const place = await mkdtemp(join(temp, 'runner-'))
  const files = { GITHUB_OUTPUT: join(place, 'output'), GITHUB_STEP_SUMMARY: join(place, 'summary') }
  for (const file of Object.values(files)) await writeFile(file, '')
  const step = join(place, 'step.sh')
  await writeFile(step, about.run)
  const outcome = await runProgram('bash', ['--noprofile', '--norc', '-eo', 'pipefail', step], {
    cwd: workspace,
    env: { PATH: path, HOME: place, RUNNER_TEMP: place, GITHUB_ACTION_PATH: action, ...files, ...env },
  })
  const written = readOutputs(await readFile(files.GITHUB_OUTPUT, 'utf8'))
  return {
    ...outcome,
    outputs: Object.fromEntries(Object.entries(about.outputs).map(([name, from]) => [name, written[from] ?? ''])),
    summary: await readFile(files.GITHUB_STEP_SUMMARY, 'utf8'),
  }
}

interface About {
  /** Of each input that has one. */
  readonly defaults: Readonly<Record<string, string>>
  /** Which input each variable of the step is. */
  readonly env: Readonly<Record<string, string>>
  /** Which output of the step each output of the action is. */
  readonly outputs: Readonly<Record<string, string>>
  readonly run: string
}

/** Reads what is needed here of an action.yml that is written as ours is: one step, values on one line. */
async function readAction(action: string): Promise<About> {
  const text = await readFile(join(action, 'action.yml'), 'utf8')
  const pairs = (pattern: RegExp) =>
    Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]))
  const run = /^ {6}run: '(.+)'$/m.exec(text)?.[1]
  if (run === undefined) throw new Error('action.yml has no step with a quoted line to run')
  return {
    defaults: pairs(/^ {2}(\w+):\n(?: {4}(?!default).*\n)* {4}default: '(.*)'$/gm),
    env: pairs(/^ {8}(\w+): \$\{\{ inputs\.(\w+) \}\}$/gm),
    outputs: pairs(/^ {2}(\w+):\n(?: {4}(?!value).*\n)* {4}value: \$\{\{ steps\.\w+\.outputs\.(\w+) \}\}$/gm),
    run,
  }
}

/** The two forms of GITHUB_OUTPUT: `name=value`, and `name<<delimiter` with the value up to a line that is the delimiter. */
function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {}
  const form = /^(\w+)(?:=(.*)|<<(.+)\n([\s\S]*?)\n\3)$/gm
  for (const [, name = '', line, , lines = ''] of text.matchAll(form)) outputs[name] = line ?? lines
  return outputs
}
