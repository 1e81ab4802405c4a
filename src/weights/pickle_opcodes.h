// Opcodes of Python's pickles: those that the machine of pickle.cc executes, and the names of the others.
#pragma once

#include <cstdint>
#include <string_view>

namespace punt {

enum PickleOpcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinFloat = 'G',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct OpcodeName {
  std::uint8_t code;
  std::string_view name;
};

// The format's other opcodes, for errors.
inline constexpr OpcodeName kRefusedOpcodes[] = {{'0', "POP"},
                                                 {'1', "POP_MARK"},
                                                 {'2', "DUP"},
                                                 {'F', "FLOAT"},
                                                 {'I', "INT"},
                                                 {'L', "LONG"},
                                                 {'P', "PERSID"},
                                                 {'S', "STRING"},
                                                 {'V', "UNICODE"},
                                                 {'d', "DICT"},
                                                 {'g', "GET"},
                                                 {'i', "INST"},
                                                 {'l', "LIST"},
                                                 {'o', "OBJ"},
                                                 {'p', "PUT"},
                                                 {'B', "BINBYTES"},
                                                 {'C', "SHORT_BINBYTES"},
                                                 {0x81, "NEWOBJ"},
                                                 {0x82, "EXT1"},
                                                 {0x83, "EXT2"},
                                                 {0x84, "EXT4"},
                                                 {0x8b, "LONG4"},
                                                 {0x8d, "BINUNICODE8"},
                                                 {0x8e, "BINBYTES8"},
                                                 {0x8f, "EMPTY_SET"},
                                                 {0x90, "ADDITEMS"},
                                                 {0x91, "FROZENSET"},
                                                 {0x92, "NEWOBJ_EX"},
                                                 {0x96, "BYTEARRAY8"},
                                                 {0x97, "NEXT_BUFFER"},
                                                 {0x98, "READONLY_BUFFER"}};

/// Empty when there is no such opcode.
inline std::string_view RefusedOpcode(std::uint8_t code) {
  for (const OpcodeName& row : kRefusedOpcodes) {
    if (row.code == code) return row.name;
  }
  return {};
}

}  // namespace punt
