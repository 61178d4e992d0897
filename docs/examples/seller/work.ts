/** The work that is sold; put your own in its place. If it throws, the buyer gets the money back. */
export async function work(request: string): Promise<object> {
  const words = request.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) throw new Error('there is no word in the request')
  return { words: words.length, characters: [...request].length }
}

/** Whether the work may be done a second time after a crash. If not, such a call is refunded. */
export const repeatable = true
