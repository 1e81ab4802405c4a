// The `punt` program. Its commands are in the table in commands.cc.
#include "app/command.h"

int main(int argc, char** argv) { return punt::RunProgram(argc, argv); }
