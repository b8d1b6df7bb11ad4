import { Argument, type Command } from 'commander'
import type { Terminal } from '../terminal.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

const HOW_TO = `
To enable completion in every new shell:
  bash  echo 'source <(lade completion bash)' >> ~/.bashrc
  zsh   echo 'source <(lade completion zsh)' >> ~/.zshrc
  fish  lade completion fish > ~/.config/fish/completions/lade.fish`

/** `lade completion SHELL`: the script that lets the shell complete the command line; it asks `lade complete` for each word. */
export function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .summary('Print a shell completion script.')
    .description('Print a script that completes commands, flags and file names in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText('after', HOW_TO)
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { BASH_SCRIPT } = await import('../completion/bash-script.ts')
      if (shell === 'bash') return terminal.print(BASH_SCRIPT)
      const { script } = await import('@bomb.sh/tab')
      script(shell, 'lade', 'lade')
    })
  program
    .command('complete', { hidden: true })
    .description('Used by the completion scripts.')
    .argument('[words...]', 'the words typed so far, after --')
    .action(async (words: string[]) => {
      const { completerOf } = await import('../completion/tree.ts')
      completerOf(program, terminal.print).complete(words.length === 0 ? [''] : words)
    })
}
