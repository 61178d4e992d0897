const ELLIPSIS = '...'

/** A text of at most `charsMax` characters: its first whole sentences if any fit, else whole words and an ellipsis. */
export function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const sentences = /^.*[.!?](?=\s)/s.exec(text.slice(0, charsMax + 1))?.[0]
  if (sentences !== undefined) return sentences
  const words = text.slice(0, charsMax + 1 - ELLIPSIS.length).replace(/[\s,;:]+\S*$/, '')
  return words.slice(0, charsMax - ELLIPSIS.length).toWellFormed() + ELLIPSIS
}
