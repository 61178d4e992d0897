/** A part of a dialogue that one speaker says: its place, and its text from the speaker's label on, without the space around it. */
export interface Turn {
  readonly start: number
  readonly text: string
  /** Where the label ends. */
  readonly saidAt: number
  /** As the text writes it, without the colon. */
  readonly speaker: string
}

/** A label in front of what a person says: "Anna:", "DR. OKORO:", "Agent 2:", with a time before it: "[26.11.26, 12:12]", "12:12 -". */
const LABEL =
  // With the flag m, `^` also matches behind \r and U+2028: a run of them would be read again from each, which is quadratic.
  /(?<![^\n])[^\S\n]*(?:[[(]?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[^\S\n])?\d{1,2}:\d{2}(?::\d{2})?(?:[^\S\n]?[AaPp]\.?[Mm]\.?)?[\])]?[^\S\n]+(?:[-\u2013][^\S\n]+)?)?(\p{Lu}[\p{L}\p{M}\d.'\u2019-]{0,24}(?:[^\S\n][\p{Lu}\d][\p{L}\p{M}\d.'\u2019-]{0,24}){0,2})[^\S\n]?:(?=[^\S\n]+\S)/gu
/** Fewer turns, or lines that mostly have no label, are no dialogue. */
const TURNS_MIN = 3
const LABELLED_MIN = 0.4

/** The turns of a dialogue, in order; none where the text is no dialogue. The work grows with the length of the text. */
export function turnsOf(text: string): readonly Turn[] {
  const labels = [...text.matchAll(LABEL)]
  const lines = text.match(/\S[^\n]*/g)?.length ?? 0
  if (labels.length < TURNS_MIN || labels.length < lines * LABELLED_MIN || !comesBack(labels.map(speakerOf))) return []
  return labels.map((label, i) => {
    const start = label.index + label[0].length - label[0].trimStart().length
    const turn = text.slice(start, labels[i + 1]?.index ?? text.length).trimEnd()
    return { start, text: turn, saidAt: label.index + label[0].length, speaker: speakerOf(label) }
  })
}

/** A text with nothing in place of the labels, so that all else stands where it stood; and who speaks. */
export function withoutLabels(text: string): { readonly text: string; readonly speakers: readonly string[] } {
  const turns = turnsOf(text)
  if (turns.length === 0) return { text, speakers: [] }
  let [said, at] = ['', 0]
  for (const { start, saidAt } of turns) {
    said += `${text.slice(at, start)}\n${' '.repeat(saidAt - start - 1)}`
    at = saidAt
  }
  return { text: said + text.slice(at), speakers: [...new Set(turns.map(({ speaker }) => speaker))] }
}

/** Two speak at least, and one of them again; headings such as "Price:" stand once. */
function comesBack(speakers: readonly string[]): boolean {
  const different = new Set(speakers).size
  return different > 1 && different < speakers.length
}

function speakerOf(label: RegExpMatchArray): string {
  return label[1] as string
}
