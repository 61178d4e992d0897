/** What is sold here; put your own in its place. Throwing means that nothing was earned: the buyer gets the money back. */
export async function work(request: string): Promise<object> {
  const words = request.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) throw new Error('there is no word in the request')
  return { words: words.length, characters: [...request].length }
}

/** Whether the work may be done a second time after a crash. Where it may not, such a call is refunded. */
export const repeatable = true
