/** What writes an answer to every line of a negotiation. */
export interface Answering {
  send(data: never): boolean
  abort(error: Error): void
}

/** What we write on a socket until it is a connection: the answers of two negotiations, our part of the handshake, first frames. */
export const UPGRADE_WRITES_MAX = 32
/** Answers while a stream settles what it is for: releases before name up to six protocols of gossip, one after the other. */
export const STREAM_WRITES_MAX = 16

/**
 * Ends what negotiates for ever: each line, of four bytes or more, costs an answer and a turn of our thread, and a stranger may
 * send as many as its line carries. `isOver` says when the negotiation is.
 */
export function boundAnswers(target: Answering, max: number, isOver: () => boolean): void {
  const send = target.send.bind(target)
  let written = 0
  target.send = (data) => {
    if (!isOver() && ++written > max) {
      target.abort(new Error('it negotiates for ever'))
      throw new Error('it negotiates for ever')
    }
    return send(data)
  }
}
