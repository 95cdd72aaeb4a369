// The worker: the accountant of `engine` (the compiled library), one question after the other, off the page's thread.
const ready = sotto({});
onmessage = async (event) => {
  const module = await ready;
  const question = event.data;
  const bytes = module.lengthBytesUTF8(question) + 1;
  const at = module._malloc(bytes);
  module.stringToUTF8(question, at, bytes);
  const answer = module.UTF8ToString(module._sotto_answer(at));
  module._free(at);
  postMessage(answer);
};
