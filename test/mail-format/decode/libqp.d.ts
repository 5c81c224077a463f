// Declares the functions of libqp, which has no types, that tests compare with.
declare module 'libqp' {
  const libqp: { encode(octets: Buffer): string; wrap(text: string): string; decode(octets: Buffer): Buffer };
  export default libqp;
}
