const ELLIPSIS = '...'

/** A text that ends like a sentence, so that another one may follow. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** A text cut to `charsMax` characters: as many whole sentences as fit, or if none fits, whole words and an ellipsis. */
export function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const sentences = /^.*[.!?](?=\s)/s.exec(text.slice(0, charsMax + 1))?.[0]
  if (sentences !== undefined) return sentences
  const words = text.slice(0, charsMax + 1 - ELLIPSIS.length).replace(/[\s,;:]+\S*$/, '')
  return words.slice(0, charsMax - ELLIPSIS.length).toWellFormed() + ELLIPSIS
}
