/** A document to search in, as its words. */
export interface SearchDocument {
  readonly words: readonly string[]
}

/** How fast a repeated word stops to count, and how much long documents are held back: the usual values. */
const K1 = 1.2
const B = 0.75

/** Words of a text in lower case: runs of letters and digits. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/**
 * Okapi BM25 scores of documents for the words of a query, each word once, in the order of the documents; 0 without a hit.
 * idf = ln(1 + (N - df + 0.5) / (df + 0.5)); score = sum of idf x tf (k1 + 1) / (tf + k1 (1 - b + b x length / average)).
 */
export function bm25<T extends SearchDocument>(documents: readonly T[], query: readonly string[]): readonly number[] {
  const total = documents.reduce((sum, { words }) => sum + words.length, 0)
  const average = documents.length === 0 ? 0 : total / documents.length
  const scores = documents.map(() => 0)
  for (const word of new Set(query)) {
    const frequencies = documents.map(({ words }) => words.filter((one) => one === word).length)
    const containing = frequencies.filter((frequency) => frequency > 0).length
    const idf = Math.log(1 + (documents.length - containing + 0.5) / (containing + 0.5))
    for (const [i, frequency] of frequencies.entries()) {
      if (frequency === 0) continue
      const length = (documents[i] as T).words.length / average
      scores[i] = (scores[i] as number) + (idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * length))
    }
  }
  return scores
}
