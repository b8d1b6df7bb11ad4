/** Words of which one is meant, for a sentence. @example choiceText(['GET', 'HEAD', 'POST']) // 'GET, HEAD or POST' */
export function choiceText(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
