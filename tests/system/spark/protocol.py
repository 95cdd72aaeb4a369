"""apps/spark/connect.proto says what Spark's own description of the protocol says: names, numbers and types of every field, and the service's calls."""
import re
import sys
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor
from pyspark.sql.connect.proto import base_pb2, commands_pb2, relations_pb2

TYPES = {"string": FieldDescriptor.TYPE_STRING, "int64": FieldDescriptor.TYPE_INT64, "bool": FieldDescriptor.TYPE_BOOL, "bytes": FieldDescriptor.TYPE_BYTES}


def known():
    found = {}

    def add(message):
        found[message.full_name] = message
        for nested in message.nested_types:
            add(nested)

    for file in (base_pb2, commands_pb2, relations_pb2):
        for message in file.DESCRIPTOR.message_types_by_name.values():
            add(message)
    return found


def main():
    messages, text = known(), Path(sys.argv[1]).read_text()
    wrong, place, fields = [], ["spark.connect"], 0
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if opened := re.match(r"(message|oneof|enum|service) (\w+) \{", line):
            place.append(opened[2] if opened[1] == "message" else f"({opened[2]})")
        elif line == "}":
            place.pop()
        elif field := re.match(r"(?:optional |repeated )?([\w.]+) (\w+) = (\d+);", line):
            name = ".".join(part for part in place if not part.startswith("("))
            own = messages[name].fields_by_name.get(field[2])
            fields += 1
            if own is None or own.number != int(field[3]):
                wrong.append(f"{name}.{field[2]} = {field[3]}")
            elif field[1] in TYPES and own.type != TYPES[field[1]] and own.enum_type is None:
                wrong.append(f"{name}.{field[2]} is no {field[1]}")
            elif line.startswith("repeated") != own.is_repeated:
                wrong.append(f"{name}.{field[2]} is repeated or not")
        elif value := re.match(r"(\w+) = (\d+);", line):
            enum = messages["spark.connect.InterruptRequest"].enum_types_by_name[place[-1].strip("()")]
            if enum.values_by_name[value[1]].number != int(value[2]):
                wrong.append(line)
        elif call := re.match(r"rpc (\w+)\((\w+)\) returns \((?:stream )?(\w+)\);", line):
            own = base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"].methods_by_name[call[1]]
            if (own.input_type.name, own.output_type.name) != (call[2], call[3]):
                wrong.append(line)
    print("\n".join(wrong) or f"{fields} fields as Spark has them")
    return 1 if wrong or fields < 30 else 0


sys.exit(main())
