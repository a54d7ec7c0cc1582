// A WebSocket server of the few things the mock needs, so that it has no dependency.
import { createHash } from "node:crypto";

/** @param {import("node:http").IncomingMessage} request @param {import("node:net").Socket} socket */
export function acceptSocket(request, socket) {
  const key = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
  );
  return new Connection(socket);
}

class Connection {
  constructor(socket) {
    this.socket = socket;
    this.handlers = {};
    let rest = Buffer.alloc(0);
    socket.on("data", (data) => {
      rest = this.read(Buffer.concat([rest, data]));
    });
    socket.on("close", () => this.handlers.close?.());
    socket.on("error", () => {});
  }

  on(name, handler) {
    this.handlers[name] = handler;
  }

  read(buffer) {
    for (;;) {
      if (buffer.length < 2) return buffer;
      let length = buffer[1] & 0x7f,
        at = 2;
      if (length === 126) {
        if (buffer.length < 4) return buffer;
        length = buffer.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (buffer.length < 10) return buffer;
        length = Number(buffer.readBigUInt64BE(2));
        at = 10;
      }
      if (buffer.length < at + 4 + length) return buffer;
      const mask = buffer.subarray(at, at + 4),
        payload = Buffer.from(buffer.subarray(at + 4, at + 4 + length));
      for (let index = 0; index < payload.length; index += 1) payload[index] ^= mask[index & 3];
      const opcode = buffer[0] & 0x0f;
      if (opcode === 1) this.handlers.text?.(payload.toString("utf8"));
      else if (opcode === 2) this.handlers.binary?.(payload);
      else if (opcode === 8) this.close();
      else if (opcode === 9) this.frame(10, payload);
      buffer = buffer.subarray(at + 4 + length);
    }
  }

  frame(opcode, payload) {
    if (this.socket.destroyed) return;
    const length = payload.length;
    const head =
      length < 126
        ? Buffer.from([0x80 | opcode, length])
        : length < 65536
          ? Buffer.from([0x80 | opcode, 126, length >> 8, length & 255])
          : Buffer.alloc(10);
    if (length >= 65536) {
      head[0] = 0x80 | opcode;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(length), 2);
    }
    this.socket.write(Buffer.concat([head, payload]));
  }

  send(message) {
    this.frame(1, Buffer.from(JSON.stringify(message)));
  }
  sendBinary(data) {
    this.frame(2, data);
  }
  close() {
    if (!this.socket.destroyed) {
      this.frame(8, Buffer.alloc(0));
      this.socket.end();
    }
  }
  destroy() {
    this.socket.destroy();
  }
}
