/* Writes events for other programs (event_trace.proto) and for people. */
#include "events/event_trace.h"

#include "event_trace.pb-c.h"
#include <errno.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const type_names[] = {[POP_TRACE_COMPILE_BEGIN] = "Compile begin",
                                         [POP_TRACE_COMPILE_END] = "Compile end",
                                         [POP_TRACE_LOAD_ENGINE] = "Load engine",
                                         [POP_TRACE_EXECUTE] = "Execute"};

static pop_error *check_written(FILE *stream)
{
  return fflush(stream) == 0 && !ferror(stream)
             ? NULL
             : pop_error_errno(errno, "cannot write the events of a trace");
}

/* ---- protobuf ---- */

static ProtobufCBinaryData bytes_of(pop_trace_text text)
{
  return (ProtobufCBinaryData){text.size, (uint8_t *)text.data};
}

static ProtobufCBinaryData bytes_of_string(const char *text)
{
  return bytes_of((pop_trace_text){text, strlen(text)});
}

/* The data that a message points to. */
typedef struct message_parts {
  Populus__CompileBegin compile_begin;
  Populus__CompileEnd compile_end;
  Populus__LoadEngine load_engine;
  Populus__Execute execute;
} message_parts;

static void fill_compile_end(const pop_trace_event *event, Populus__CompileEnd *end)
{
  populus__compile_end__init(end);
  end->module_name = bytes_of_string(event->module_name);
  end->compilation_report = bytes_of(event->report);
  end->duration = event->duration;
  end->tensor_map = bytes_of(event->tensor_map);
  end->instruction_info = bytes_of(event->instruction_info);
  end->poplar_graph = bytes_of(event->graph);
  end->error = bytes_of_string(event->error);
}

static void fill_execute(const pop_trace_event *event, Populus__Execute *execute)
{
  populus__execute__init(execute);
  execute->module_name = bytes_of_string(event->module_name);
  execute->program = bytes_of_string(event->program);
  execute->execution_report = bytes_of(event->report);
  execute->duration = event->duration;
  execute->error = bytes_of_string(event->error);
}

static void fill(const pop_trace_event *event, Populus__IpuTraceEvent *message,
                 message_parts *parts)
{
  populus__ipu_trace_event__init(message);
  message->timestamp = event->timestamp;
  message->ordinal = event->ordinal;
  switch (event->type) {
  case POP_TRACE_COMPILE_BEGIN:
    populus__compile_begin__init(&parts->compile_begin);
    parts->compile_begin.module_name = bytes_of_string(event->module_name);
    message->type = POPULUS__IPU_TRACE_EVENT__TYPE__COMPILE_BEGIN;
    message->data_case = POPULUS__IPU_TRACE_EVENT__DATA_COMPILE_BEGIN;
    message->compile_begin = &parts->compile_begin;
    return;
  case POP_TRACE_COMPILE_END:
    fill_compile_end(event, &parts->compile_end);
    message->type = POPULUS__IPU_TRACE_EVENT__TYPE__COMPILE_END;
    message->data_case = POPULUS__IPU_TRACE_EVENT__DATA_COMPILE_END;
    message->compile_end = &parts->compile_end;
    return;
  case POP_TRACE_LOAD_ENGINE:
    populus__load_engine__init(&parts->load_engine);
    parts->load_engine.module_name = bytes_of_string(event->module_name);
    parts->load_engine.duration = event->duration;
    message->type = POPULUS__IPU_TRACE_EVENT__TYPE__LOAD_ENGINE;
    message->data_case = POPULUS__IPU_TRACE_EVENT__DATA_LOAD_ENGINE;
    message->load_engine = &parts->load_engine;
    return;
  case POP_TRACE_EXECUTE:
    fill_execute(event, &parts->execute);
    message->type = POPULUS__IPU_TRACE_EVENT__TYPE__EXECUTE;
    message->data_case = POPULUS__IPU_TRACE_EVENT__DATA_EXECUTE;
    message->execute = &parts->execute;
    return;
  }
}

/* Packs a message directly into the stream, because reports are large. */
typedef struct stream_buffer {
  ProtobufCBuffer base;
  FILE *stream;
} stream_buffer;

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
  fwrite(bytes, 1, size, ((stream_buffer *)buffer)->stream);
}

static void write_varint(FILE *stream, size_t number)
{
  for (; number >= 0x80; number >>= 7) putc((int)(number & 0x7f) | 0x80, stream);
  putc((int)number, stream);
}

static pop_error *write_event(const pop_trace_event *event, FILE *stream)
{
  Populus__IpuTraceEvent message;
  message_parts parts;
  fill(event, &message, &parts);
  size_t size = populus__ipu_trace_event__get_packed_size(&message);
  if (size > INT32_MAX)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "an event of module '%s' takes %zu bytes, and a protobuf message may take "
                         "2147483647: lower max_report_size, or set report_directory",
                         event->module_name, size);
  write_varint(stream, size);
  stream_buffer buffer = {{append}, stream};
  populus__ipu_trace_event__pack_to_buffer(&message, &buffer.base);
  return NULL;
}

pop_error *pop_trace_events_write(const pop_trace_events *events, FILE *stream)
{
  POP_TRY(object_check(events, OBJECT_TRACE_EVENTS, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  for (size_t i = 0; i < pop_trace_events_count(events); i++)
    POP_TRY(write_event(pop_trace_events_at(events, i), stream));
  return check_written(stream);
}

/* ---- text ---- */

static void print_time(double seconds, FILE *stream)
{
  char text[64];
  struct tm when;
  time_t whole = (time_t)seconds;
  localtime_r(&whole, &when);
  strftime(text, sizeof text, "%F %T %z", &when);
  fputs(text, stream);
}

static void print_bytes(pop_trace_text text, FILE *stream)
{
  fwrite(text.data, 1, text.size, stream);
  if (text.size && text.data[text.size - 1] != '\n') putc('\n', stream);
}

static void print_event(const pop_trace_event *event, FILE *stream)
{
  enum { RULE = 70 };
  for (int i = 0; i < RULE; i++) putc('-', stream);
  fputs("\n=> @ ", stream);
  print_time(event->timestamp, stream);
  fprintf(stream, ": %s: ", type_names[event->type]);
  pop_write_name(event->module_name, stream);
  if (*event->program) fputs(", program ", stream);
  pop_write_name(event->program, stream);
  putc('\n', stream);
  if (event->type != POP_TRACE_COMPILE_BEGIN)
    fprintf(stream, "Duration: %lld us\n", (long long)event->duration);
  if (*event->error) {
    fputs("Error: ", stream);
    pop_write_printable(event->error, strlen(event->error), stream);
    putc('\n', stream);
  }
  print_bytes(event->report, stream);
}

pop_error *pop_trace_events_print(const pop_trace_events *events, FILE *stream)
{
  POP_TRY(object_check(events, OBJECT_TRACE_EVENTS, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  for (size_t i = 0; i < pop_trace_events_count(events); i++)
    print_event(pop_trace_events_at(events, i), stream);
  return check_written(stream);
}
