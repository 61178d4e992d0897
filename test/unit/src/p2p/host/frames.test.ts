import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { updateWindowsRarely, type WindowedStream, writeTogether } from '../../../../../src/p2p/host/links.ts'

const ESTABLISHED = 3
const SYN_RECEIVED = 2
const WINDOW = 262_144

/** A socket that records the size of each write. */
function tellingSocket(): { readonly socket: Writable; readonly handedOver: number[] } {
  const handedOver: number[] = []
  const socket = new Writable({
    highWaterMark: 1_048_576,
    writev: (chunks, done) => {
      handedOver.push(chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0))
      done()
    },
  })
  return { socket, handedOver }
}

test('small pieces that are written in one go leave in one go, later ones by themselves', async () => {
  const { socket, handedOver } = tellingSocket()
  const together = writeTogether(socket)
  for (const bytes of [2, 100, 2, 50]) {
    together()
    socket.write(Buffer.alloc(bytes))
  }
  expect(handedOver).toEqual([])
  await setImmediate()
  expect(handedOver).toEqual([154])
  together()
  socket.write(Buffer.alloc(7))
  await setImmediate()
  expect(handedOver).toEqual([154, 7])
})

test('large ones do not wait for those behind them', async () => {
  const { socket, handedOver } = tellingSocket()
  const together = writeTogether(socket)
  for (let i = 0; i < 3; i++) {
    together()
    socket.write(Buffer.alloc(20_000))
  }
  expect(handedOver).toEqual([20_000, 20_000])
  await setImmediate()
  expect(handedOver.reduce((sum, bytes) => sum + bytes)).toBe(60_000)
})

/** A stream whose other end has used part of its window. `updates` counts window updates. */
function streamThatUsed(used: number, state = ESTABLISHED): { readonly stream: WindowedStream; updates: number } {
  const counted = { updates: 0 } as { stream: WindowedStream; updates: number }
  const made: WindowedStream = {
    ...{ state, recvWindow: WINDOW, recvWindowCapacity: WINDOW - used },
    sendWindowUpdate: () => {
      counted.updates += 1
    },
  }
  const muxer = { _newStream: () => made }
  updateWindowsRarely(muxer)
  counted.stream = muxer._newStream()
  return counted
}

test('a window is told of once a share of it is used up, and always while a stream opens', () => {
  for (const [used, state, updates] of [
    [0, ESTABLISHED, 0],
    [3_000, ESTABLISHED, 0],
    [WINDOW / 8 - 1, ESTABLISHED, 0],
    [WINDOW / 8, ESTABLISHED, 1],
    [WINDOW, ESTABLISHED, 1],
    [0, SYN_RECEIVED, 1],
  ] as const) {
    const counted = streamThatUsed(used, state)
    counted.stream.sendWindowUpdate()
    expect(counted.updates, `${used} bytes, state ${state}`).toBe(updates)
  }
})
